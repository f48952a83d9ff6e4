// podium checkpoints: what a job has saved, and where it lies.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/job_number.h"
#include "cli/moment.h"
#include "cli/print.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

// "eval/f1 88.1" of the best one, "" of the others.
std::string best_text(const json& checkpoint) {
  const json best = field(checkpoint, "best");
  if (!best.is_object()) return "";
  return fmt::format("{} {}", text_field(best, "metric"), human_value(best.at("value")));
}

std::string checkpoints_table(const json& checkpoints, const Terminal& terminal) {
  std::vector<Column> columns{{"STEP", true}, {"SAVED"}, {"SIZE", true}, {"TOOK", true}, {"ATTEMPT", true}};
  const bool any_best =
      std::ranges::any_of(checkpoints, [](const json& one) { return !best_text(one).empty(); });
  if (any_best) columns.push_back({"BEST BY"});
  columns.push_back({"PATH"});
  Table table(columns);
  for (const json& checkpoint : checkpoints) {
    std::vector<Cell> row{{human_count(integer_field(checkpoint, "step"))},
                          {local_time(from_millis(integer_field(checkpoint, "time_ms")))},
                          {human_bytes(integer_field(checkpoint, "bytes"))},
                          {fmt::format("{:.2f}s", number_field(checkpoint, "seconds"))},
                          {std::to_string(integer_field(checkpoint, "attempt"))}};
    if (any_best) row.push_back({best_text(checkpoint)});
    row.push_back({checkpoint.value("removed", false) ? "removed" : text_field(checkpoint, "path")});
    table.add(std::move(row));
  }
  return table.empty() ? "No checkpoints yet.\n" : table.render(terminal);
}

void run_checkpoints(std::int64_t id, const Session& session) {
  const json reply = Client(session).get(fmt::format("/jobs/{}/checkpoints", id));
  print(session.json ? reply.dump() + "\n" : checkpoints_table(reply.at("checkpoints"), detect_terminal()));
}

}  // namespace

void add_checkpoints(CLI::App& app, Session& session) {
  const auto id = std::make_shared<std::int64_t>();
  CLI::App* command =
      app.add_subcommand("checkpoints", "List the checkpoints that a job has saved, oldest first");
  add_job(*command, *id);
  command->footer(R"(
PATH is relative to the folder that the nodes share (podium-agent --shared). A job keeps its newest checkpoints
(checkpoint.keep in its spec) and, with checkpoint.best, the best one; others are "removed". They stay when a training has ended: resume:
{job: 12} continues from the newest, model: {init: {job: 12}} begins with the weights of the best or the newest, and
podium-worker export makes a Hugging Face model of one.

Examples:
  podium checkpoints 12
  podium checkpoints 12 --json | jq -r '.checkpoints[-1].path')");
  command->callback([id, &session] { run_checkpoints(*id, session); });
}

}  // namespace podium::cli
