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

struct Options {
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

std::string verdict_text(const std::string& name, const json& verdict) {
  if (!verdict.at("valid")) {
    std::string text;
    for (const json& error : verdict.at("errors"))
      text += error.at("where").get<std::string>() + ": " + error.at("message").get<std::string>() + "\n";
    return text + fmt::format("{}: {} problem{}\n", name, verdict.at("errors").size(),
                              verdict.at("errors").size() == 1 ? "" : "s");
  }
  const auto jobs = verdict.at("jobs").get<std::int64_t>();
  std::string text = fmt::format("{} is valid: {} job{}\n", name, jobs, jobs == 1 ? "" : "s");
  for (const json& warning : verdict.value("warnings", json::array()))  // an old coordinator has none
    text += fmt::format("  warning: {}\n", warning.get<std::string>());
  return text;
}

json check(const SpecFile& spec, bool server, const Session& session) {
  if (!server) return verdict_of(load_experiment(spec.text, spec.name));
  return Client(session).post("/validate", {{"spec", spec.text}, {"file", spec.name}});
}

void run(const Options& options, Session& session) {
  for (const std::string& file : options.files) {
    const SpecFile spec = read_spec_file(file);
    const json verdict = check(spec, options.server, session);
    const bool valid = verdict.at("valid");
    if (!valid) session.exit = Exit::refused;
    if (session.json) {
      json line = verdict;
      line["file"] = spec.name;
      print(line.dump() + "\n");
    } else if (valid) {
      print(verdict_text(spec.name, verdict));
    } else {
      std::fputs(verdict_text(spec.name, verdict).c_str(), stderr);
    }
  }
}

}  // namespace

void add_validate(CLI::App& app, Session& session) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("validate", "Check specs and show every problem with its line");
  command->add_option("FILE", options->files, "The specs, or - for standard input")->required();
  command->add_flag("--server", options->server, "Let the coordinator check, which also knows its nodes");
  command->footer(R"(
Examples:
  podium validate configs/*.yaml
  podium validate my.yaml --json | jq .normalised     the spec with every default filled in
  podium validate my.yaml --server                    also: can the cluster ever run it?)");
  command->callback([options, &session] { run(*options, session); });
}

}  // namespace podium::cli
