// podium reproduce: a job's spec and code once more, exactly.
#include <spdlog/fmt/fmt.h>

#include <memory>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/follow.h"
#include "cli/job_number.h"
#include "cli/print.h"
#include "cli/terminal.h"
#include "common/net/token.h"

namespace podium::cli {
namespace {

using nlohmann::json;

struct ReproduceOptions {
  std::int64_t id = 0;
  std::string key;
  bool follow = false;
};

std::string reproduced_text(const json& reply) {
  const std::int64_t original = integer_field(reply, "reproduces"),
                     job = integer_field(reply.at("job"), "id");
  std::string text = fmt::format("job {} repeats job {}\n", job, original);
  for (const json& difference : reply.at("differences"))
    text += "different: " + printable(difference.get<std::string>()) + "\n";
  return text + fmt::format("when it has ended: podium compare {} {}\n", original, job);
}

void run_reproduce(const ReproduceOptions& options, Session& session) {
  const json reply = Client(session).post(fmt::format("/jobs/{}/reproduce", options.id), json::object(),
                                          options.key.empty() ? random_hex(16) : options.key);
  print(session.json ? reply.dump() + "\n" : reproduced_text(reply));
  if (options.follow) session.exit = follow_job(session, integer_field(reply.at("job"), "id"));
}

}  // namespace

void add_reproduce(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ReproduceOptions>();
  CLI::App* command = app.add_subcommand("reproduce", "Submit a job's spec and code once more, exactly");
  add_job(*command, options->id);
  command->add_flag("-f,--follow", options->follow, "Follow the new job");
  command->add_option("--key", options->key, "Idempotency key: the same key again gives the first answer")
      ->type_name("TEXT");
  command->footer(R"(
The spec is the one that the job ran, with its seed and its packed code, whatever has been committed since. Differences
in devices, versions and uncommitted changes are shown; the contents of data folders are not recorded. The new job has
the label reproduces, and podium show compares its time to train with the original's.

Examples:
  podium reproduce 12
  podium reproduce 12 --follow
  podium list --label reproduces:12)");
  command->callback([options, &session] { run_reproduce(*options, session); });
}

}  // namespace podium::cli
