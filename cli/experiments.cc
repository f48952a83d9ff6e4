// podium experiments: what was submitted, and from which commit.
#include <spdlog/fmt/fmt.h>

#include <memory>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/job_text.h"
#include "cli/print.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

struct ExperimentsOptions {
  std::int64_t id = 0;
  std::size_t limit = 50;
};

std::string experiments_table(const json& experiments, const Terminal& terminal) {
  Table table({{"EXPERIMENT", true},
               {"NAME", false, true},
               {"JOBS", true},
               {"CREATED", true},
               {"SOURCE", false, true}});
  for (const json& experiment : experiments)
    table.add({{std::to_string(experiment.at("id").get<std::int64_t>())},
               {text_field(experiment, "name")},
               {std::to_string(experiment.value("jobs", json::array()).size())},
               {human_ago(field(experiment, "created_ms"), now_millis())},
               {source_text(field(experiment, "source")), Colour::dim}});
  return table.empty() ? "No experiments. Submit one: podium submit configs/quickstart.yaml\n"
                       : table.render(terminal);
}

std::string experiment_page(const json& experiment, const Terminal& terminal) {
  std::string jobs;
  for (const json& id : experiment.value("jobs", json::array()))
    jobs += (jobs.empty() ? "" : ", ") + id.dump();
  return experiments_table(json::array({experiment}), terminal) + "\njobs " + jobs + "\n\n" +
         text_field(experiment, "spec") + "\n";
}

void run_experiments(const ExperimentsOptions& options, const Session& session) {
  const Client client(session);
  const std::int64_t id = options.id;
  const json reply = id == 0 ? client.get_pages("/experiments", {}, "experiments", options.limit)
                             : client.get(fmt::format("/experiments/{}", id));
  if (session.json) return print(reply.dump() + "\n");
  const Terminal terminal = detect_terminal();
  print(id == 0 ? experiments_table(reply.at("experiments"), terminal) : experiment_page(reply, terminal));
}

}  // namespace

void add_experiments(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ExperimentsOptions>();
  CLI::App* command = app.add_subcommand("experiments", "List experiments, or show one with its spec");
  command->add_option("EXPERIMENT", options->id, "Only this one, with its spec as it was submitted");
  command->add_option("--limit", options->limit, "At most this many, newest first")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->footer(R"(
Examples:
  podium experiments
  podium experiments 3 --json | jq -r .spec > again.yaml)");
  add_list_word(*command);
  command->callback([options, &session] { run_experiments(*options, session); });
}

}  // namespace podium::cli
