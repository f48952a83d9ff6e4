// Events as JSON, the format of the log on disk. tests/golden/core-events.jsonl holds one of each as first
// published.
#include <nlohmann/json.hpp>

#include "coordinator/core/events/events.h"
#include "coordinator/core/events/names.h"
#include "coordinator/core/events/wire.h"

namespace podium {
namespace {

using nlohmann::json;
using namespace wire;

constexpr int kEventVersion = 1;

json attempt_id_json(AttemptId id) { return {{"job", id.job.value}, {"attempt", id.number}}; }
json task_id_json(TaskId id) {
  return {{"job", id.attempt.job.value}, {"attempt", id.attempt.number}, {"rank", id.rank}};
}
AttemptId attempt_id_from(const json& in) { return {job_from(in.at("job")), in.at("attempt")}; }
TaskId task_id_from(const json& in) { return {attempt_id_from(in), in.at("rank")}; }
NodeId node_id_from(const json& in) { return {in.at("node").get<std::string>()}; }

json with(json base, const json& more) {
  base.update(more);
  return base;
}

json body_json(const ExperimentCreated& e) { return {{"experiment", e.experiment.value}, {"name", e.name}}; }
json body_json(const JobQueued& e) {
  return {{"job", e.job.value}, {"experiment", e.experiment.value}, {"request", request_json(e.request)}};
}
json body_json(const RunTracked& e) { return {{"job", e.job.value}, {"experiment", e.experiment.value}}; }
json body_json(const AttemptCreated& e) {
  return with(attempt_id_json(e.attempt), {{"allocation", allocation_json(e.allocation)}});
}
json body_json(const TaskStarted& e) { return with(task_id_json(e.task), {{"pid", e.pid}}); }
json body_json(const TaskExited& e) { return with(task_id_json(e.task), {{"exit", to_json(e.exit)}}); }
json body_json(const TaskMissed& e) { return task_id_json(e.task); }
json body_json(const TaskListed& e) { return task_id_json(e.task); }
json body_json(const TaskStaging& e) { return with(task_id_json(e.task), {{"over", e.over}}); }
json body_json(const TaskFound& e) { return task_id_json(e.task); }
json body_json(const TaskLost& e) { return with(task_id_json(e.task), {{"reason", e.reason}}); }
json body_json(const AttemptStopping& e) {
  return with(attempt_id_json(e.attempt), {{"cause", to_string(e.cause)}, {"reason", e.reason}});
}
json body_json(const ResizePlanned& e) {
  return with(attempt_id_json(e.attempt), {{"resize", resize_json(e.resize)}});
}
json body_json(const AttemptEnded& e) {
  json out = with(attempt_id_json(e.attempt), {{"end", to_string(e.end)}, {"reason", e.reason}});
  if (e.restart != RestartCause::none) out["restart"] = enum_name(kRestartCauses, e.restart);
  return out;
}
json body_json(const RetryPlanned& e) {
  return {{"job", e.job.value},
          {"retries", retries_json(e.retries)},
          {"not_before_ms", time_json(e.not_before)},
          {"avoid", nodes_json(e.avoid)},
          {"avoid_until_ms", time_json(e.avoid_until)}};
}
json body_json(const JobStateChanged& e) {
  return {{"job", e.job.value}, {"from", to_string(e.from)}, {"to", to_string(e.to)}, {"reason", e.reason}};
}
json body_json(const JobRecalled& e) {
  return {{"job", e.job.value},
          {"experiment", e.experiment.value},
          {"request", request_json(e.request)},
          {"from", to_string(e.from)},
          {"attempts", e.attempts},
          {"served_ms", e.served.count()},
          {"attained_ms", e.attained.count()},
          {"astray", e.astray}};
}
json body_json(const JobExtended& e) { return {{"job", e.job.value}, {"walltime_ms", e.walltime.count()}}; }
json body_json(const CheckpointNoted& e) { return with(attempt_id_json(e.attempt), {{"step", e.step}}); }
json body_json(const SweepBegun& e) {
  return {{"experiment", e.experiment.value},
          {"rule", to_json(e.rule)},
          {"first", e.first.value},
          {"trials", e.trials}};
}
json body_json(const RungReached& e) {
  return {{"experiment", e.experiment.value},
          {"job", e.job.value},
          {"rung", e.rung},
          {"report", report_json(e.report)}};
}
json body_json(const TrialPaused& e) {
  return {{"job", e.job.value}, {"rung", e.rung}, {"reason", e.reason}};
}
json body_json(const TrialPromoted& e) {
  return {{"job", e.job.value}, {"rung", e.rung}, {"reason", e.reason}};
}
json body_json(const ReplicaPaused& e) { return {{"job", e.job.value}, {"reason", e.reason}}; }
json body_json(const ReplicaPromoted& e) { return {{"job", e.job.value}, {"reason", e.reason}}; }
json body_json(const JobHeld& e) {
  return {{"job", e.job.value}, {"reason", e.reason}, {"attempts", e.attempts}};
}
json body_json(const JobReleased& e) { return {{"job", e.job.value}}; }
json body_json(const JobPrioritised& e) { return {{"job", e.job.value}, {"priority", e.priority}}; }
json body_json(const DependencyMet& e) { return {{"job", e.job.value}, {"on", e.on.value}}; }
json body_json(const AccountChanged& e) { return {{"account", e.account}, {"rules", rules_json(e.rules)}}; }
json body_json(const AccountDeleted& e) { return {{"account", e.account}}; }
json body_json(const NodeJoined& e) { return {{"node", to_json(e.node)}}; }
json body_json(const NodeChanged& e) { return {{"node", to_json(e.node)}}; }
json body_json(const NodeStateChanged& e) {
  return {{"node", e.node.value}, {"from", to_string(e.from)}, {"to", to_string(e.to)}, {"reason", e.reason}};
}
json body_json(const NodeStraysCounted& e) { return {{"node", e.node.value}, {"strays", e.strays}}; }
json body_json(const NodeDrained& e) { return {{"node", e.node.value}, {"drain", drain_json(e.drain)}}; }
json body_json(const NodeReserved& e) {
  return {{"node", e.node.value}, {"reservation", reservation_json(e.reservation)}};
}
json body_json(const NodeUnreserved& e) { return {{"node", e.node.value}, {"reason", e.reason}}; }
json body_json(const NodeResumed& e) { return {{"node", e.node.value}, {"reason", e.reason}}; }
json body_json(const NodeLabelled& e) { return {{"node", e.node.value}, {"labels", e.labels}}; }
json body_json(const NodeLeft& e) { return {{"node", e.node.value}, {"reason", e.reason}}; }
json body_json(const SilenceForgiven& e) { return {{"reason", e.reason}, {"started", e.started}}; }
json body_json(const NodeSeen& e) { return {{"node", e.node.value}}; }
json body_json(const NodeAdopted& e) { return {{"node", e.node.value}, {"stop", e.stop}}; }
json body_json(const JobNumbersSkipped& e) { return {{"next", e.next.value}}; }
json body_json(const Ticked&) { return json::object(); }

template <class Body>
Body body_from(const json& in);

template <>
ExperimentCreated body_from(const json& in) {
  return {{in.at("experiment").get<std::int64_t>()}, in.at("name")};
}
template <>
JobQueued body_from(const json& in) {
  return {job_from(in.at("job")), {in.at("experiment").get<std::int64_t>()}, request_from(in.at("request"))};
}
template <>
RunTracked body_from(const json& in) {
  return {job_from(in.at("job")), {in.at("experiment").get<std::int64_t>()}};
}
template <>
AttemptCreated body_from(const json& in) {
  return {attempt_id_from(in), allocation_from(in.at("allocation"))};
}
template <>
TaskStarted body_from(const json& in) {
  return {task_id_from(in), in.at("pid")};
}
template <>
TaskExited body_from(const json& in) {
  return {task_id_from(in), task_exit_from_json(in.at("exit"))};
}
template <>
TaskMissed body_from(const json& in) {
  return {task_id_from(in)};
}
template <>
TaskListed body_from(const json& in) {
  return {task_id_from(in)};
}
template <>
TaskStaging body_from(const json& in) {
  return {task_id_from(in), in.at("over")};
}
template <>
TaskFound body_from(const json& in) {
  return {task_id_from(in)};
}
template <>
TaskLost body_from(const json& in) {
  return {task_id_from(in), in.at("reason")};
}
template <>
AttemptStopping body_from(const json& in) {
  return {attempt_id_from(in), enum_value(kStopCauses, in.at("cause").get<std::string>(), "cause"),
          in.at("reason")};
}
template <>
ResizePlanned body_from(const json& in) {
  return {attempt_id_from(in), resize_from(in.at("resize"))};
}
template <>
AttemptEnded body_from(const json& in) {
  return {attempt_id_from(in), attempt_end_from(in.at("end").get<std::string>()), in.at("reason"),
          enum_value(kRestartCauses, in.value("restart", ""), "restart")};
}
template <>
RetryPlanned body_from(const json& in) {
  return {job_from(in.at("job")), retries_from(in.at("retries")), optional_time_from(in.at("not_before_ms")),
          nodes_from(in.at("avoid")),
          in.contains("avoid_until_ms") ? optional_time_from(in.at("avoid_until_ms")) : std::nullopt};
}
template <>
JobStateChanged body_from(const json& in) {
  return {job_from(in.at("job")), job_state_from(in.at("from").get<std::string>()),
          job_state_from(in.at("to").get<std::string>()), in.at("reason")};
}
template <>
JobRecalled body_from(const json& in) {
  return {job_from(in.at("job")),
          {in.at("experiment").get<std::int64_t>()},
          request_from(in.at("request")),
          job_state_from(in.at("from").get<std::string>()),
          in.at("attempts"),
          Duration(in.at("served_ms").get<std::int64_t>()),
          Duration(in.at("attained_ms").get<std::int64_t>()),
          in.value("astray", true)};
}
template <>
JobExtended body_from(const json& in) {
  return {job_from(in.at("job")), Duration(in.at("walltime_ms").get<std::int64_t>())};
}
template <>
CheckpointNoted body_from(const json& in) {
  return {attempt_id_from(in), in.at("step")};
}
template <>
SweepBegun body_from(const json& in) {
  return {{in.at("experiment").get<std::int64_t>()},
          asha_from_json(in.at("rule")),
          job_from(in.at("first")),
          in.at("trials")};
}
template <>
RungReached body_from(const json& in) {
  return {{in.at("experiment").get<std::int64_t>()},
          job_from(in.at("job")),
          in.at("rung"),
          report_from(in.at("report"))};
}
template <>
TrialPaused body_from(const json& in) {
  return {job_from(in.at("job")), in.at("rung"), in.at("reason")};
}
template <>
TrialPromoted body_from(const json& in) {
  return {job_from(in.at("job")), in.at("rung"), in.at("reason")};
}
template <>
ReplicaPaused body_from(const json& in) {
  return {job_from(in.at("job")), in.at("reason")};
}
template <>
ReplicaPromoted body_from(const json& in) {
  return {job_from(in.at("job")), in.at("reason")};
}
template <>
JobHeld body_from(const json& in) {
  return {job_from(in.at("job")), in.value("reason", ""), in.value("attempts", 0)};
}
template <>
JobReleased body_from(const json& in) {
  return {job_from(in.at("job"))};
}
template <>
JobPrioritised body_from(const json& in) {
  return {job_from(in.at("job")), in.at("priority")};
}
template <>
DependencyMet body_from(const json& in) {
  return {job_from(in.at("job")), job_from(in.at("on"))};
}
template <>
AccountChanged body_from(const json& in) {
  return {in.at("account"), rules_from(in.at("rules"))};
}
template <>
AccountDeleted body_from(const json& in) {
  return {in.at("account").get<std::string>()};
}
template <>
NodeJoined body_from(const json& in) {
  return {node_description_from_json(in.at("node"))};
}
template <>
NodeChanged body_from(const json& in) {
  return {node_description_from_json(in.at("node"))};
}
template <>
NodeStateChanged body_from(const json& in) {
  return {node_id_from(in), node_state_from(in.at("from").get<std::string>()),
          node_state_from(in.at("to").get<std::string>()), in.at("reason")};
}
template <>
NodeStraysCounted body_from(const json& in) {
  return {node_id_from(in), in.at("strays")};
}
template <>
NodeDrained body_from(const json& in) {
  return {node_id_from(in), drain_from(in.at("drain"))};
}
template <>
NodeResumed body_from(const json& in) {
  return {node_id_from(in), in.at("reason")};
}
template <>
NodeReserved body_from(const json& in) {
  return {node_id_from(in), reservation_from(in.at("reservation"))};
}
template <>
NodeUnreserved body_from(const json& in) {
  return {node_id_from(in), in.at("reason")};
}
template <>
NodeLabelled body_from(const json& in) {
  return {node_id_from(in), in.at("labels").get<Labels>()};
}
template <>
NodeLeft body_from(const json& in) {
  return {node_id_from(in), in.at("reason")};
}
template <>
SilenceForgiven body_from(const json& in) {
  return {in.at("reason").get<std::string>(), in.value("started", false)};
}
template <>
NodeSeen body_from(const json& in) {
  return {node_id_from(in)};
}
template <>
NodeAdopted body_from(const json& in) {
  return {node_id_from(in), in.at("stop")};
}
template <>
JobNumbersSkipped body_from(const json& in) {
  return {job_from(in.at("next"))};
}
template <>
Ticked body_from(const json&) {
  return {};
}

// In the order of Event::body's alternatives.
constexpr std::string_view kTypes[] = {"experiment_created",
                                       "job_queued",
                                       "attempt_created",
                                       "task_started",
                                       "task_exited",
                                       "task_missed",
                                       "task_found",
                                       "task_lost",
                                       "attempt_stopping",
                                       "attempt_ended",
                                       "retry_planned",
                                       "job_state_changed",
                                       "checkpoint_noted",
                                       "node_joined",
                                       "node_changed",
                                       "node_state_changed",
                                       "node_strays_counted",
                                       "silence_forgiven",
                                       "node_seen",
                                       "ticked",
                                       "job_held",
                                       "job_released",
                                       "job_prioritised",
                                       "dependency_met",
                                       "node_drained",
                                       "node_resumed",
                                       "node_labelled",
                                       "account_changed",
                                       "resize_planned",
                                       "node_reserved",
                                       "node_unreserved",
                                       "task_listed",
                                       "job_recalled",
                                       "job_extended",
                                       "node_adopted",
                                       "job_numbers_skipped",
                                       "account_deleted",
                                       "sweep_begun",
                                       "rung_reached",
                                       "trial_paused",
                                       "trial_promoted",
                                       "replica_paused",
                                       "replica_promoted",
                                       "run_tracked",
                                       "node_left",
                                       "task_staging"};
static_assert(std::size(kTypes) == std::variant_size_v<decltype(Event::body)>);

template <std::size_t Index = 0>
decltype(Event::body) body_of_type(const json& in, std::string_view type) {
  if constexpr (Index == std::size(kTypes)) {
    throw std::invalid_argument("unknown event type \"" + std::string(type) + "\"");
  } else {
    if (type == kTypes[Index]) return body_from<std::variant_alternative_t<Index, decltype(Event::body)>>(in);
    return body_of_type<Index + 1>(in, type);
  }
}

}  // namespace

std::string_view type_of(const Event& event) { return kTypes[event.body.index()]; }

json to_json(const Event& event) {
  json out = std::visit([](const auto& body) { return body_json(body); }, event.body);
  out["v"] = kEventVersion;
  out["type"] = type_of(event);
  out["at_ms"] = to_millis(event.at);
  return out;
}

Event event_from_json(const json& in) {
  if (in.at("v") != kEventVersion)
    throw std::invalid_argument("event version must be " + std::to_string(kEventVersion));
  return {time_from(in.at("at_ms")), body_of_type(in, in.at("type").get<std::string>())};
}

}  // namespace podium
