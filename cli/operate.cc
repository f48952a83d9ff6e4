// podium cancel, hold, release, requeue, priority, extend: what an operator does to jobs.
#include <spdlog/fmt/fmt.h>

#include <memory>
#include <vector>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/job_number.h"
#include "cli/job_text.h"
#include "cli/print.h"
#include "cli/terminal.h"

namespace podium::cli {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int64_t>;

std::string told(const json& job) {
  const std::string state = text_field(job, "state", "?"), reason = reason_text(job);
  const bool goes_on = state == "starting" || state == "running";
  std::string text = fmt::format("job {} is {}", integer_field(job, "id"), state);
  if (goes_on || state == "queued") text += fmt::format(", priority {}", integer_field(job, "priority"));
  if (job.value("held", false)) text += goes_on ? ", held: it goes on, but does not start again" : ", held";
  return text + (reason.empty() ? "" : ": " + printable(reason)) + "\n";
}

// A job that is refused keeps none of the others from being asked for.
void run(const std::string& operation, const Ids& ids, const json& body, const Session& session) {
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

CLI::App* add(CLI::App& app, Session& session, const std::string& operation, const std::string& what) {
  const auto ids = std::make_shared<Ids>();
  CLI::App* command = app.add_subcommand(operation, what);
  add_jobs(*command, *ids);
  command->callback([operation, ids, &session] { run(operation, *ids, json::object(), session); });
  return command;
}

}  // namespace

void add_cancel(CLI::App& app, Session& session) {
  add(app, session, "cancel", "Cancel jobs; running ones get the grace period to save")->footer(R"(
Examples:
  podium cancel 12
  podium cancel $(podium list --label sweep=old --state queued --json | jq '.jobs[].id'))");
}

void add_hold(CLI::App& app, Session& session) {
  add(app, session, "hold", "Keep jobs from starting; running ones go on, but do not start again")->footer(R"(
Examples:
  podium hold 12
  podium hold $(podium list --label team=nlp --state queued --json | jq '.jobs[].id'))");
}

void add_release(CLI::App& app, Session& session) {
  add(app, session, "release", "Let held jobs start")->footer(R"(
Examples:
  podium release 12 13)");
}

void add_requeue(CLI::App& app, Session& session) {
  add(app, session, "requeue", "Queue jobs again, which go on from their newest checkpoint")->footer(R"(
A running job stops at a checkpoint first, at no cost. A job that waits because it failed soon after its start is tried
at once, on any node. A job that failed, ran out of walltime or was cancelled goes on under its number, with all its
restarts and its whole walltime again.

Examples:
  podium requeue 12
  podium hold 12 && podium requeue 12        stop it until podium release 12)");
}

void add_priority(CLI::App& app, Session& session) {
  const auto ids = std::make_shared<Ids>();
  const auto priority = std::make_shared<int>(0);
  CLI::App* command = app.add_subcommand("priority", "Change the priority of jobs");
  command->add_option("PRIORITY", *priority, "From 0 to 100; an hour of waiting weighs as much as a point")
      ->required()
      ->check(CLI::Range(0, 100));
  add_jobs(*command, *ids);
  command->footer(R"(
An hour of waiting adds a point and an hour of walltime takes one away, 20 at most: podium queue shows the sum.

Examples:
  podium priority 80 12
  podium priority 10 12 13 14)");
  command->callback([ids, priority, &session] { run("priority", *ids, {{"priority", *priority}}, session); });
}

void add_extend(CLI::App& app, Session& session) {
  const auto ids = std::make_shared<Ids>();
  const auto walltime = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("extend", "Give jobs a longer walltime");
  add_jobs(*command, *ids);
  command
      ->add_option("--walltime", *walltime,
                   "How long an attempt may take from its start, the running one too")
      ->type_name("DURATION")
      ->required();
  command->footer(R"(
A job that ran out of its walltime has ended: podium requeue lets it go on.

Examples:
  podium extend 12 --walltime 96h)");
  command->callback([ids, walltime, &session] { run("walltime", *ids, {{"walltime", *walltime}}, session); });
}

}  // namespace podium::cli
