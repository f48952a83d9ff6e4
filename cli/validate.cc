// podium validate: checks a spec here, or with --server by the coordinator.
#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <memory>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/spec_file.h"
#include "common/spec/load.h"
#include "common/spec/warnings.h"

namespace podium::cli {
namespace {

using nlohmann::json;

struct ValidateOptions {
  std::vector<std::string> files;
  bool server = false;
};

json verdict_of(const Result<LoadedExperiment>& loaded) {
  if (loaded.ok())
    return {{"valid", true},
            {"jobs", loaded->jobs.size()},
            {"warnings", warnings_of(loaded->jobs)},
            {"normalised", loaded->normalised}};
  json errors = json::array();
  for (const Error& error : loaded.errors())
    errors.push_back({{"message", error.message}, {"where", error.where}, {"pointer", error.pointer}});
  return {{"valid", false}, {"errors", std::move(errors)}};
}

// "1 job", "4 jobs", "a service, replicas: 1 to 4"
std::string content_in_words(const json& verdict) {
  const json replicas = verdict.value("/normalised/replicas"_json_pointer, json());
  if (replicas.is_object() && replicas.at("min") == replicas.at("max"))
    return fmt::format("a service, replicas: {}", replicas.at("max").dump());
  if (replicas.is_object())
    return fmt::format("a service, replicas: {} to {}", replicas.at("min").dump(), replicas.at("max").dump());
  const auto jobs = verdict.at("jobs").get<std::int64_t>();
  return fmt::format("{} job{}", jobs, jobs == 1 ? "" : "s");
}

std::string verdict_text(const std::string& name, const json& verdict) {
  if (!verdict.at("valid")) {
    std::string text;
    for (const json& error : verdict.at("errors"))
      text += error.at("where").get<std::string>() + ": " + error.at("message").get<std::string>() + "\n";
    return text + fmt::format("{}: {} problem{}\n", name, verdict.at("errors").size(),
                              verdict.at("errors").size() == 1 ? "" : "s");
  }
  std::string text = fmt::format("{} is valid: {}\n", name, content_in_words(verdict));
  for (const json& warning : verdict.value("warnings", json::array()))  // an old coordinator has none
    text += fmt::format("  warning: {}\n", warning.get<std::string>());
  return text;
}

// What one request holds at most: a spec's bytes take up to six each in JSON.
constexpr std::size_t kMostAsked = 1 << 20;
constexpr std::size_t kMostSpecs = 1000;

// Of all specs, in as few requests as can be.
std::vector<json> ask(const std::vector<SpecFile>& specs, const Client& client) {
  std::vector<json> verdicts(specs.size());
  json asked = json::array();
  std::vector<std::size_t> places;
  std::size_t bytes = 0;
  const auto send = [&] {
    if (asked.empty()) return;
    const json reply = client.post("/verdicts", {{"specs", asked}}, "", Patience::great);
    for (std::size_t i = 0; i < places.size(); ++i) verdicts[places[i]] = reply.at("verdicts").at(i);
    asked = json::array();
    places.clear();
    bytes = 0;
  };
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const SpecFile& spec = specs[i];
    if (spec.text.size() > kMaxSpecBytes) {
      verdicts[i] = verdict_of(load_experiment(spec.text, spec.name));
      continue;
    }
    if (bytes + spec.text.size() > kMostAsked || places.size() == kMostSpecs) send();
    asked.push_back({{"spec", spec.text}, {"file", spec.name}});
    places.push_back(i);
    bytes += spec.text.size();
  }
  send();
  return verdicts;
}

void run_validate(const ValidateOptions& options, Session& session) {
  std::vector<SpecFile> specs;
  for (const std::string& file : options.files) specs.push_back(read_spec_file(file));
  std::vector<json> verdicts;
  if (options.server)
    verdicts = ask(specs, Client(session));
  else
    for (const SpecFile& spec : specs) verdicts.push_back(verdict_of(load_experiment(spec.text, spec.name)));
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const bool valid = verdicts[i].at("valid");
    if (!valid) session.exit = Exit::refused;
    if (session.json) {
      verdicts[i]["file"] = specs[i].name;
      print(verdicts[i].dump() + "\n");
    } else if (valid) {
      print(verdict_text(specs[i].name, verdicts[i]));
    } else {
      std::fputs(verdict_text(specs[i].name, verdicts[i]).c_str(), stderr);
    }
  }
}

}  // namespace

void add_validate(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ValidateOptions>();
  CLI::App* command = app.add_subcommand("validate", "Check specs and show every problem with its line");
  command->add_option("FILE", options->files, "The specs, or - for standard input")->required();
  command->add_flag("--server", options->server, "Check on the coordinator, which also knows its nodes");
  command->footer(R"(
Examples:
  podium validate configs/*.yaml
  podium validate my.yaml --json | jq .normalised     the spec with every default filled in
  podium validate my.yaml --server                    also: can the cluster ever run it?
  podium validate my.yaml my-bert.yaml --server       both in one request)");
  command->callback([options, &session] { run_validate(*options, session); });
}

}  // namespace podium::cli
