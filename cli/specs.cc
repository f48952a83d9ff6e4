// podium specs: the git repositories that the coordinator watches, and what became of their specs.
#include <spdlog/fmt/fmt.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/print.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

std::string short_commit(const json& of) { return printable(text_field(of, "commit")).substr(0, 12); }

std::string outcome_of(const json& spec) {
  const std::string state = text_field(spec, "state");
  if (state == "submitted") return fmt::format("experiment {}", integer_field(spec, "experiment"));
  return state == "left" ? "left as it was" : printable(state);
}

std::string problems_of(const json& repository) {
  std::string text;
  for (const json& spec : repository.at("specs"))
    for (const json& problem : spec.at("problems")) {
      const std::string where = printable(text_field(problem, "where"));
      text += fmt::format("{}: {}\n", where.empty() ? printable(text_field(spec, "path")) : where,
                          printable(text_field(problem, "message")));
    }
  return text.empty() ? "" : "\n" + text;
}

std::string repository_section(const json& repository, const Terminal& terminal) {
  const std::string error = printable(text_field(repository, "error")), commit = short_commit(repository);
  const json checked = field(repository, "checked_ms");
  std::string text =
      fmt::format("{}  {}{}  {}\n", printable(text_field(repository, "name")),
                  printable(text_field(repository, "url")), commit.empty() ? "" : " at " + commit,
                  checked.is_null() ? "not looked at yet" : "looked at " + human_ago(checked, now_millis()));
  if (!error.empty()) text += "the last look failed: " + error + "\n";
  Table table({{"SPEC", false, true, 12}, {"COMMIT"}, {"BECAME"}});
  for (const json& spec : repository.at("specs"))
    table.add({{text_field(spec, "path")},
               {short_commit(spec)},
               {outcome_of(spec), text_field(spec, "state") == "refused" ? Colour::red : Colour::none}});
  return text + (table.empty() ? "" : table.render(terminal)) + problems_of(repository);
}

void run_specs(const Session& session) {
  const json reply = Client(session).get("/specs");
  if (session.json) return print(reply.dump() + "\n");
  std::string text;
  for (const json& repository : reply.at("repositories"))
    text += (text.empty() ? "" : "\n") + repository_section(repository, detect_terminal());
  print(text.empty() ? "No repository is watched. podium-coordinator --specs URL watches one.\n" : text);
}

}  // namespace

void add_specs(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("specs", "Specs in git, and what became of them");
  command->footer(R"(
The coordinator submits each spec that a commit adds or changes in the repositories of its option --specs. BECAME: the
experiment; refused, with the reasons below; or left as it was, because it was there before the coordinator first looked.

Examples:
  podium specs
  podium specs --json | jq '.repositories[].specs[] | select(.state == "refused")')");
  command->callback([&session] { run_specs(session); });
}

}  // namespace podium::cli
