// podium priority, extend: what an operator changes of jobs.
#include <spdlog/fmt/fmt.h>

#include <memory>
#include <vector>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/job_number.h"
#include "cli/job_text.h"
#include "cli/print.h"
#include "common/base/units.h"

namespace podium::cli {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int64_t>;

std::string check_duration(const std::string& text) {
  return parse_duration(text) ? "" : "must be a time such as 96h or 4h30m, not \"" + text + "\"";
}

// A job that is refused keeps none of the others from being asked for.
void run_operate(const std::string& operation, const Ids& ids, const json& body, const Session& session) {
  const Client client(session);
  std::string refusals;
  for (const std::int64_t id : ids) {
    try {
      const json job = client.post(fmt::format("/jobs/{}/{}", id, operation), body);
      print(session.json ? job.dump() + "\n" : told(job));
    } catch (const Failure& failure) {
      refusals += (refusals.empty() ? "" : "\n") + std::string(failure.what());
      if (failure.status() != Exit::refused) throw Failure(failure.status(), refusals);
    }
  }
  if (!refusals.empty()) throw Failure(Exit::refused, refusals);
}

}  // namespace

void add_priority(CLI::App& app, Session& session) {
  const auto ids = std::make_shared<Ids>();
  const auto priority = std::make_shared<int>(0);
  CLI::App* command = app.add_subcommand("priority", "Change the priority of jobs");
  command->add_option("PRIORITY", *priority, "From 0 to 100; an hour of waiting weighs as much as a point")
      ->required()
      ->check(CLI::Range(0, 100));
  add_jobs(*command, *ids)->required();
  command->footer(R"(
An hour of waiting adds a point and an hour of walltime takes one away, 20 at most: podium queue shows the sum.

Examples:
  podium priority 80 12
  podium priority 10 12 13 14)");
  command->callback([ids, priority, &session] {
    run_operate("priority", *ids, {{"priority", *priority}}, session);
  });
}

void add_extend(CLI::App& app, Session& session) {
  const auto ids = std::make_shared<Ids>();
  const auto walltime = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("extend", "Give jobs a longer walltime");
  add_jobs(*command, *ids)->required();
  command
      ->add_option("--walltime", *walltime,
                   "How long an attempt may take from its start; also of the running one")
      ->check(CLI::Validator(check_duration, ""))
      ->type_name("DURATION")
      ->required();
  command->footer(R"(
A job that ran out of its walltime has ended: podium requeue lets it go on.

Examples:
  podium extend 12 --walltime 96h)");
  command->callback([ids, walltime, &session] {
    run_operate("walltime", *ids, {{"walltime", *walltime}}, session);
  });
}

}  // namespace podium::cli
