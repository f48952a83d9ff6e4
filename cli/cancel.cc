// podium cancel: ends jobs.
#include <spdlog/fmt/fmt.h>

#include <memory>
#include <vector>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/print.h"

namespace podium::cli {
namespace {

using nlohmann::json;

void run(const std::vector<std::int64_t>& ids, const Session& session) {
  const Client client(session);
  for (const std::int64_t id : ids) {
    const json job = client.post(fmt::format("/jobs/{}/cancel", id), json::object());
    print(session.json ? job.dump() + "\n"
                       : fmt::format("job {} is {}\n", id, text_field(job, "state", "?")));
  }
}

}  // namespace

void add_cancel(CLI::App& app, Session& session) {
  const auto ids = std::make_shared<std::vector<std::int64_t>>();
  CLI::App* command = app.add_subcommand("cancel", "Cancel jobs; running ones get the grace period to save");
  command->add_option("JOB", *ids, "The jobs' numbers")->required();
  command->footer(R"(
Examples:
  podium cancel 12
  podium cancel $(podium list --label sweep:old --state queued --json | jq '.jobs[].id'))");
  command->callback([ids, &session] { run(*ids, session); });
}

}  // namespace podium::cli
