// What an event is about, and its description for people.
#include <algorithm>

#include "common/base/overloaded.h"
#include "common/base/units.h"
#include "coordinator/core/events/events.h"
#include "coordinator/core/state/exits.h"
#include "coordinator/core/state/time_text.h"

namespace podium {
namespace {

std::string because(const std::string& reason) { return reason.empty() ? "" : ": " + reason; }
// A reason that only repeats the event says nothing and is left out.
std::string because_of(std::string_view what, const std::string& reason) {
  return reason == what ? "" : because(reason);
}
std::string rank_of(TaskId task) { return "rank " + std::to_string(task.rank); }
std::string attempt_of(AttemptId attempt) { return "attempt " + std::to_string(attempt.number); }
std::string name_of(auto value) { return std::string(to_string(value)); }

std::string in_words(AttemptEnd end) {
  switch (end) {
    case AttemptEnd::node_lost:
      return "its node failed it";  // was lost, restarted, or did not start it in time
    case AttemptEnd::walltime:
      return "its walltime was over";
    default:
      return name_of(end);
  }
}

// "3"; "0-7"; "0,2,5-7", of numbers that ascend.
std::string folded(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0, end = 0; i < numbers.size(); i = end) {
    for (end = i + 1; end < numbers.size() && numbers[end] == numbers[end - 1] + 1;) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (end - i > 1) text += "-" + std::to_string(numbers[end - 1]);
  }
  return text;
}

// "attempt 1 on gpu-1 devices 0-7; gpu-2 device 3"
std::string describe_allocation(const AttemptCreated& e) {
  std::string text = attempt_of(e.attempt) + " on ";
  const auto& ranks = e.allocation.ranks;
  for (std::size_t begin = 0, end = 0; begin < ranks.size(); begin = end) {
    std::vector<int> devices;
    for (; end < ranks.size() && ranks[end].node == ranks[begin].node; ++end)
      ranks[end].each_device([&](int device) { devices.push_back(device); });
    std::ranges::sort(devices);
    text += (begin == 0 ? "" : "; ") + ranks[begin].node.value +
            (devices.size() == 1 ? " device " : " devices ") + folded(devices);
  }
  return text;
}

std::string describe_resize(const ResizePlanned& e) {
  return attempt_of(e.attempt) + (e.resize.grows() ? " grows " : " shrinks ") + describe(e.resize);
}

std::string describe_devices(const std::map<std::string, int>& devices, const std::string& what) {
  std::string text;
  for (const auto& [kind, number] : devices) text += ", " + what + " " + std::to_string(number) + " " + kind;
  return text;
}

std::string describe_rules(const AccountChanged& e) {
  return "account " + e.account + " has share " + std::to_string(e.rules.share) +
         describe_devices(e.rules.quota, "quota") + describe_devices(e.rules.limit, "limit");
}

std::string describe_retry(const RetryPlanned& e) {
  return e.not_before ? "will start again at " + time_text(*e.not_before) : "will start again";
}

std::string describe_report(const RungReached& e) {
  const std::string at =
      "reached rung " + std::to_string(e.rung) + " at step " + std::to_string(e.report.step);
  return e.report.value ? at + " with " + metric_text(*e.report.value) : at + " with what is not a number";
}

std::string describe_drain(const NodeDrained& e) {
  std::string text = e.node.value + " takes no new work";
  if (e.drain.from) text += " from " + time_text(*e.drain.from);
  if (e.drain.until) text += " until " + time_text(*e.drain.until);
  return text + because(e.drain.reason);
}

std::string describe_reservation(const NodeReserved& e) {
  std::string text = e.node.value + " is reserved for account " + e.reservation.account;
  if (e.reservation.from) text += " from " + time_text(*e.reservation.from);
  if (e.reservation.until) text += " until " + time_text(*e.reservation.until);
  return text + because(e.reservation.reason);
}

std::string describe_labels(const NodeLabelled& e) {
  if (e.labels.empty()) return e.node.value + " has no labels but its agent's";
  std::string text = e.node.value + " is labelled";
  for (const auto& [key, value] : e.labels) text += " " + key + "=" + value;
  return text;
}

const auto kDescribe = Overloaded{
    [](const ExperimentCreated& e) {
      return "experiment " + to_string(e.experiment) + " \"" + e.name + "\" submitted";
    },
    [](const JobQueued& e) { return "queued with priority " + std::to_string(e.request.priority); },
    [](const RunTracked&) { return std::string("begun by a program that Podium did not start"); },
    [](const AttemptCreated& e) { return describe_allocation(e); },
    [](const TaskStarted& e) { return rank_of(e.task) + " runs as process " + std::to_string(e.pid); },
    [](const TaskExited& e) {
      if (e.exit.succeeded()) return rank_of(e.task) + " finished";
      return rank_of(e.task) + (e.exit.cause == ExitCause::program ? " ended with " : " ended: ") +
             describe_exit(e.exit, std::nullopt);
    },
    [](const TaskMissed& e) { return rank_of(e.task) + " is not in its node's report"; },
    [](const TaskListed& e) { return rank_of(e.task) + " is known to its node"; },
    [](const TaskStaging& e) {
      return rank_of(e.task) +
             (e.over ? " has its inputs" : " waits for its inputs to be staged on its node");
    },
    [](const TaskFound& e) { return rank_of(e.task) + " is in its node's report again"; },
    [](const TaskLost& e) { return rank_of(e.task) + " was lost" + because(e.reason); },
    [](const AttemptStopping& e) { return attempt_of(e.attempt) + " is being stopped" + because(e.reason); },
    [](const ResizePlanned& e) { return describe_resize(e); },
    [](const AttemptEnded& e) {
      return attempt_of(e.attempt) + " ended: " + in_words(e.end) + because_of(to_string(e.end), e.reason);
    },
    [](const RetryPlanned& e) { return describe_retry(e); },
    [](const JobStateChanged& e) {
      return name_of(e.from) + " → " + name_of(e.to) + because_of(to_string(e.to), e.reason);
    },
    [](const JobRecalled& e) {
      return "goes on, though it had " + std::string(e.from == JobState::failed ? "failed"
                                                     : e.from == JobState::stopped
                                                         ? "been stopped by its sweep"
                                                         : "been cancelled");
    },
    [](const JobExtended& e) { return "has a walltime of " + format_duration(e.walltime) + " now"; },
    [](const SweepBegun& e) {
      return "the jobs of experiment " + to_string(e.experiment) +
             " are trials of a sweep: of those that tell " + e.rule.metric + " at a rung, one of " +
             std::to_string(e.rule.reduction) + " goes on";
    },
    [](const RungReached& e) { return describe_report(e); },
    [](const TrialPaused& e) { return "paused by its sweep" + because(e.reason); },
    [](const TrialPromoted& e) { return "goes on in its sweep" + because(e.reason); },
    [](const ReplicaPaused& e) { return "paused by its service" + because(e.reason); },
    [](const ReplicaPromoted& e) { return "needed by its service" + because(e.reason); },
    [](const CheckpointNoted& e) { return "checkpoint at step " + std::to_string(e.step); },
    [](const JobHeld& e) { return "held until it is released" + because(e.reason); },
    [](const JobReleased&) { return std::string("released"); },
    [](const JobPrioritised& e) { return "has priority " + std::to_string(e.priority) + " now"; },
    [](const DependencyMet& e) { return "waits for job " + to_string(e.on) + " no longer"; },
    [](const AccountChanged& e) { return describe_rules(e); },
    [](const AccountDeleted& e) { return "account " + e.account + " was deleted"; },
    [](const NodeJoined& e) {
      return e.node.id.value + " joined with " + std::to_string(e.node.devices.size()) + " devices";
    },
    [](const NodeChanged& e) { return e.node.id.value + " changed its description or its agent restarted"; },
    [](const NodeStateChanged& e) { return e.node.value + " is " + name_of(e.to) + because(e.reason); },
    [](const NodeStraysCounted& e) {
      return e.node.value + " has " + std::to_string(e.strays) + " processes that nobody ordered";
    },
    [](const NodeDrained& e) { return describe_drain(e); },
    [](const NodeResumed& e) { return e.node.value + " takes new work again" + because(e.reason); },
    [](const NodeReserved& e) { return describe_reservation(e); },
    [](const NodeUnreserved& e) { return e.node.value + " is not reserved any more" + because(e.reason); },
    [](const NodeLabelled& e) { return describe_labels(e); },
    [](const NodeLeft& e) { return e.node.value + " left the cluster" + because(e.reason); },
    [](const SilenceForgiven& e) { return "all nodes get time to report" + because(e.reason); },
    [](const NodeAdopted& e) {
      return "the unknown tasks of " + e.node.value + (e.stop ? " are stopped" : " may run to their end");
    },
    [](const JobNumbersSkipped& e) {
      return "a later database gave numbers up to " + to_string(JobId{e.next.value - 1}) +
             " to jobs: the next job is " + to_string(e.next);
    },
    [](const NodeSeen& e) { return e.node.value + " reported"; },
    [](const Ticked&) { return std::string("time passed"); },
};

}  // namespace

std::string describe(const Event& event) { return std::visit(kDescribe, event.body); }

bool is_durable(const Event& event) {
  return !std::holds_alternative<NodeSeen>(event.body) && !std::holds_alternative<NodeAdopted>(event.body) &&
         !std::holds_alternative<Ticked>(event.body);
}

std::optional<JobId> job_of(const Event& event) {
  return std::visit(
      [](const auto& e) -> std::optional<JobId> {
        if constexpr (requires { e.job; })
          return e.job;
        else if constexpr (requires { e.attempt.job; })
          return e.attempt.job;
        else if constexpr (requires { e.task; })
          return e.task.attempt.job;
        else
          return std::nullopt;
      },
      event.body);
}

std::optional<NodeId> node_of(const Event& event) {
  return std::visit(
      [](const auto& e) -> std::optional<NodeId> {
        if constexpr (requires { e.node.id; })
          return e.node.id;
        else if constexpr (requires { e.node; })
          return e.node;
        else
          return std::nullopt;
      },
      event.body);
}

}  // namespace podium
