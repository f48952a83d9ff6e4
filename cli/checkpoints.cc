// podium checkpoints: what a job has saved, and where it lies.
#include <spdlog/fmt/fmt.h>

#include <memory>

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

std::string checkpoints_table(const json& checkpoints, const Terminal& terminal) {
  Table table({{"STEP", true}, {"SAVED"}, {"SIZE", true}, {"TOOK", true}, {"ATTEMPT", true}, {"PATH"}});
  for (const json& checkpoint : checkpoints)
    table.add({{human_count(integer_field(checkpoint, "step"))},
               {local_time(from_millis(integer_field(checkpoint, "time_ms")))},
               {human_bytes(integer_field(checkpoint, "bytes"))},
               {fmt::format("{:.2f}s", number_field(checkpoint, "seconds"))},
               {std::to_string(integer_field(checkpoint, "attempt"))},
               {text_field(checkpoint, "path")}});
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
(checkpoint.keep in its spec). The last checkpoint of a training that has ended stays: resume: {job: 12} continues from
it, and podium-worker export makes a Hugging Face model of it.

Examples:
  podium checkpoints 12
  podium checkpoints 12 --json | jq -r '.checkpoints[-1].path')");
  command->callback([id, &session] { run_checkpoints(*id, session); });
}

}  // namespace podium::cli
