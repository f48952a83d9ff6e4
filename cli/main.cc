// podium: the command line. Builds the subcommands, runs the chosen one and turns failures into exit
// statuses.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/session.h"
#include "common/spec/schema.h"
#include "common/spec/suggest.h"

namespace podium::cli {
namespace {

constexpr const char* kFooter = R"(
Examples:
  podium validate configs/quickstart.yaml     check a spec without a cluster
  podium submit configs/quickstart.yaml --follow
  podium list --state running,queued
  podium follow 12                            Ctrl-C detaches, the job goes on
  podium COMMAND --help                       options and examples of a command

The user token is read from --token-file, else PODIUM_TOKEN, else user.token in PODIUM_HOME (default .podium).

Exit status: 0 done; 1 the followed job failed or was cancelled; 2 wrong usage; 3 the coordinator cannot be reached;
4 refused, or the spec is invalid; 5 the output could not be written; 130 interrupted.)";

void add_globals(CLI::App& app, Session& session) {
  app.add_option("--coordinator", session.coordinator, "Address of the coordinator")
      ->envname("PODIUM_COORDINATOR")
      ->type_name("URL")
      ->capture_default_str();
  app.add_option("--token-file", session.token_file, "File that holds the user token")->type_name("FILE");
  app.add_option("--ca-file", session.ca_file, "PEM file of the authority that signed an https coordinator")
      ->envname("PODIUM_CA_FILE")
      ->type_name("FILE");
  app.add_option("--timeout", session.timeout,
                 "How long an answer may take (default: 1m; 5m for requests that take long)")
      ->envname("PODIUM_TIMEOUT")
      ->type_name("DURATION");
  app.add_flag("--json", session.json, "Print JSON for programs instead of text for people");
}

void add_commands(CLI::App& app, Session& session) {
  add_submit(app, session);
  add_validate(app, session);
  add_list(app, session);
  add_show(app, session);
  add_why(app, session);
  add_queue(app, session);
  add_follow(app, session);
  add_logs(app, session);
  add_cancel(app, session);
  add_hold(app, session);
  add_release(app, session);
  add_requeue(app, session);
  add_priority(app, session);
  add_extend(app, session);
  add_checkpoints(app, session);
  add_outputs(app, session);
  add_compare(app, session);
  add_ledger(app, session);
  add_metrics(app, session);
  add_series(app, session);
  add_export(app, session);
  add_import(app, session);
  add_events(app, session);
  add_accounts(app, session);
  add_services(app, session);
  add_webhooks(app, session);
  add_retention(app, session);
  add_nodes(app, session);
  add_experiments(app, session);
  add_studies(app, session);
  add_study(app, session);
  add_published(app, session);
  add_mlperf(app, session);
  add_bisect(app, session);
  add_board(app, session);
  add_reproduce(app, session);
  add_specs(app, session);
  add_simulate(app, session);
  add_completion(app, session);
  add_complete(app, session);
  add_version(app, session);
}

int fail(Exit status, const std::string& message) {
  std::fprintf(stderr, "podium: %s\n", message.c_str());
  return static_cast<int>(status);
}

// The command that the words chose: "podium nodes drain".
std::vector<const CLI::App*> chosen_path(const CLI::App& app) {
  std::vector<const CLI::App*> path{&app};
  while (!path.back()->get_subcommands().empty()) path.push_back(path.back()->get_subcommands().back());
  return path;
}

std::string joined_names(const std::vector<const CLI::App*>& path) {
  std::string text;
  for (const CLI::App* app : path) text += (text.empty() ? "" : " ") + app->get_name();
  return text;
}

// What to say of an option that the command does not have; "" when something else is wrong. Of a command that
// takes a spec it may be a key that belongs there.
std::string unknown_option(const CLI::App& app) {
  const std::vector<std::string> unused = app.remaining(true);
  const auto word = std::ranges::find_if(unused, [](const std::string& each) {
    return each.starts_with('-') && each.find_first_not_of('-') != std::string::npos;
  });
  if (word == unused.end()) return "";
  const std::string written = word->substr(0, word->find('='));
  const auto path = chosen_path(app);
  std::vector<std::string> names;
  for (const CLI::App* each : path)
    for (const CLI::Option* option : each->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const std::string command = joined_names(path);
  std::string text = "there is no option \"" + written + "\"";
  const bool takes_spec = path.back()->get_name() == "submit" || path.back()->get_name() == "validate";
  if (const auto near = closest(written, names))
    text += "; did you mean \"" + *near + "\"?";
  else if (const auto key = closest(written.substr(written.find_first_not_of('-')), all_keys());
           key && takes_spec)
    text += "; \"" + *key + "\" is a key of the spec.";
  else
    text += ".";
  return text + " " + command + " --help lists them all";
}

// What to say of a word in the place of a command that is none; "" when something else is wrong. Where a
// command takes words of its own beside others below it, as "podium nodes NODE", only a word that is nearly
// one of those.
std::string unknown_command(const CLI::App& app, int count, char** arguments) {
  const std::vector<std::string> unused = app.remaining(true);
  const auto path = chosen_path(app);
  const CLI::App& parent = *path.back();
  const bool first = path.size() == 1;
  if ((first && unused.empty()) || parent.get_subcommands({}).empty()) return "";
  std::vector<std::string> names;
  for (const CLI::App* command : parent.get_subcommands({})) {
    names.push_back(command->get_name());
    for (const std::string& alias : command->get_aliases()) names.push_back(alias);
  }
  const std::string help = joined_names(path) + " --help lists them all";
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const bool is_unused = std::ranges::find(unused, word) != unused.end();
    if (word.starts_with('-') || word == parent.get_name() || (first && !is_unused)) continue;
    if (const auto meant = closest(word, names))
      return "there is no command \"" + word + "\"; did you mean \"" + *meant + "\"? " + help;
    if (first) return "there is no command \"" + word + "\"; " + help;
  }
  return "";
}

int run(int count, char** arguments) {
  CLI::App app("Podium schedules training jobs onto the nodes of a cluster and records how they went.",
               "podium");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.fallthrough();
  Session session;
  add_globals(app, session);
  add_commands(app, session);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::string unknown = unknown_command(app, count, arguments);
    if (unknown.empty()) unknown = unknown_option(app);
    if (!unknown.empty()) return fail(Exit::usage, unknown);
    app.exit(error);
    return static_cast<int>(Exit::usage);
  } catch (const Failure& failure) {
    return fail(failure.status(), failure.what());
  } catch (const nlohmann::json::exception& error) {
    return fail(Exit::refused, std::string("the coordinator's answer is not understood (") + error.what() +
                                   "); are the versions the same?");
  } catch (const std::exception& error) {  // a file that cannot be read or written
    return fail(Exit::usage, error.what());
  }
  return static_cast<int>(session.exit);
}

}  // namespace
}  // namespace podium::cli

int main(int count, char** arguments) { return podium::cli::run(count, arguments); }
