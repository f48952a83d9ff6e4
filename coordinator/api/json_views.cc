#include "coordinator/api/json_views.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/model/codec.h"
#include "coordinator/core/events/wire.h"

namespace podium {
namespace {

using nlohmann::json;

json number_or_null(const std::optional<double>& value) {
  return value ? number_to_json(*value) : json(nullptr);
}

json progress_json(const std::optional<Progress>& progress) {
  if (!progress) return nullptr;
  return {{"step", progress->step}, {"steps", progress->steps}, {"updated_ms", to_millis(progress->updated)}};
}

json target_json(const std::optional<TargetView>& target) {
  if (!target) return nullptr;
  json out{{"metric", target->metric},
           {"latest", number_or_null(target->latest)},
           {"best", number_or_null(target->best)},
           {"reached_ms", millis_or_null(target->reached)},
           {"reached_step", or_null(target->reached_step)}};
  if (target->at_least) out["at_least"] = *target->at_least;
  if (target->at_most) out["at_most"] = *target->at_most;
  return out;
}

json restarts_json(const RestartCounts& counts) {
  return {
      {"failures", counts.failures},       {"requeues", counts.requeues},       {"moves", counts.moves},
      {"node_losses", counts.node_losses}, {"preemptions", counts.preemptions}, {"resizes", counts.resizes},
      {"promotions", counts.promotions}};
}

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

Duration elapsed(const JobView& job, Time now) {
  return job.running_since ? job.ran + std::max(now - *job.running_since, Duration{}) : job.ran;
}

std::string reason_of(const JobView& job, const std::string& waiting) {
  if (waiting.empty()) return job.reason;
  return job.reason.empty() ? waiting : job.reason + "; " + waiting;
}

}  // namespace

json job_json(const JobView& job, const CommandLoop& loop, std::int64_t revision) {
  const Job* live = find_job(loop.state(), job.id);
  json latest = json::object();
  for (const auto& [key, value] : job.latest) latest[key] = number_to_json(value);
  return {{"id", job.id.value},
          {"revision", revision},
          {"experiment", job.experiment.value},
          {"name", job.request.name},
          {"tracked", job.tracked},
          {"state", to_string(job.state)},
          {"priority", job.request.priority},
          {"account", job.request.account},
          {"held", live && live->held},
          {"labels", job.labels.empty() ? json::object() : json::parse(job.labels)},
          {"devices", job.devices},
          {"sizes", job.request.sizes},
          {"per_node", job.request.per_node},
          {"kind", job.request.kind},
          {"walltime_seconds", seconds(job.request.walltime)},
          {"max_restarts", job.request.max_restarts},
          {"command", job.request.command},
          {"submitted_ms", to_millis(job.submitted)},
          {"started_ms", millis_or_null(job.started)},
          {"ended_ms", millis_or_null(job.ended)},
          {"attempt", job.attempt},
          {"elapsed_seconds", seconds(elapsed(job, loop.now()))},
          {"ran_seconds", seconds(job.ran)},
          {"running_since_ms", millis_or_null(job.running_since)},
          {"restarts", job.restarts},
          {"restart_counts", restarts_json(job.restart_counts)},
          {"restarts_used", job.restarts_used},
          {"reason", reason_of(job, loop.waiting_reason(job.id))},
          {"progress", progress_json(job.progress)},
          {"latest", std::move(latest)},
          {"target", target_json(job.target)},
          {"time_to_train_seconds", or_null(job.time_to_train_seconds)}};
}

json attempt_json(const AttemptView& attempt) {
  json tasks = json::array();
  for (const TaskView& task : attempt.tasks)
    tasks.push_back({{"rank", task.rank},
                     {"node", task.node.value},
                     {"device", task.devices.front()},
                     {"devices", task.devices},
                     {"state", to_string(task.phase)},
                     {"pid", task.pid},
                     {"exit", task.exit ? to_json(*task.exit) : json(nullptr)}});
  return {{"number", attempt.number},
          {"created_ms", to_millis(attempt.created)},
          {"started_ms", millis_or_null(attempt.started)},
          {"ended_ms", millis_or_null(attempt.ended)},
          {"end", attempt.end ? json(to_string(*attempt.end)) : json(nullptr)},
          {"reason", attempt.reason},
          {"first_step", or_null(attempt.first_step)},
          {"last_step", or_null(attempt.last_step)},
          {"tasks", std::move(tasks)}};
}

// Lies in the nodes' shared folder, where the jobs of every cluster have a folder of their own.
json checkpoint_json(const CheckpointView& checkpoint, JobId job, const std::string& folder, bool removed) {
  const auto& best = checkpoint.best;
  return {
      {"attempt", checkpoint.attempt},
      {"step", checkpoint.step},
      {"time_ms", to_millis(checkpoint.time)},
      {"path", folder + "/" + to_string(job) + "/checkpoints/" + checkpoint.path},
      {"bytes", checkpoint.bytes},
      {"seconds", checkpoint.seconds},
      {"best", best ? json{{"metric", best->metric}, {"value", number_to_json(best->value)}} : json(nullptr)},
      {"removed", removed}};
}

json unknown_json(const Node& node) {
  if (node.unknown.empty()) return nullptr;
  json tasks = json::array();
  for (const TaskId task : node.unknown)
    tasks.push_back({{"job", task.attempt.job.value}, {"attempt", task.attempt.number}, {"rank", task.rank}});
  return {{"tasks", std::move(tasks)},
          {"cluster", node.stranger.empty() ? json(nullptr) : json(node.stranger)},
          {"adopted", !node.adopted ? json(nullptr) : json(*node.adopted ? "stop" : "keep")}};
}

json clock_json(const std::optional<ClockMeasure>& clock) {
  if (!clock) return nullptr;
  return {{"ahead_ms", clock->ahead.count()},
          {"round_trip_ms", clock->round_trip.count()},
          {"off", clock->off()}};
}

json node_json(const Node& node, bool heard, std::int64_t revision) {
  json devices = json::array();
  for (const DeviceSlot& slot : node.devices) {
    json device = to_json(slot.device);
    device["job"] = slot.holder ? json(slot.holder->value) : json(nullptr);
    devices.push_back(std::move(device));
  }
  return {{"id", node.description.id.value},
          {"revision", revision},
          {"address", node.description.address},
          {"state", to_string(node.state)},
          {"agent_version", node.description.agent_version},
          {"labels", labels_of(node)},
          {"operator_labels", node.operator_labels},
          {"drain", node.drain ? wire::drain_json(*node.drain) : json(nullptr)},
          {"reservation", node.reservation ? wire::reservation_json(*node.reservation) : json(nullptr)},
          {"last_seen_ms", heard ? json(to_millis(node.last_seen)) : json(nullptr)},
          {"clock", clock_json(node.clock)},
          {"unknown", unknown_json(node)},
          {"devices", std::move(devices)}};
}

json blocker_json(const Blocker& blocker) {
  json nodes = json::array();
  for (const NodeId& node : blocker.nodes) nodes.push_back(node.value);
  return {{"code", to_string(blocker.code)},
          {"sentence", blocker.sentence},
          {"accounts", blocker.accounts},
          {"needs", blocker.needs},
          {"has", blocker.has},
          {"per_node", blocker.per_node},
          {"job", blocker.job ? json(blocker.job->value) : json(nullptr)},
          {"nodes", std::move(nodes)},
          {"until_ms", millis_or_null(blocker.until)}};
}

json experiment_json(const ExperimentView& experiment) {
  json jobs = json::array();
  for (const JobId job : experiment.jobs) jobs.push_back(job.value);
  return {{"id", experiment.id.value},
          {"name", experiment.name},
          {"created_ms", to_millis(experiment.created)},
          {"source", experiment.source.empty() ? json(nullptr) : json::parse(experiment.source)},
          {"file", experiment.file},
          {"jobs", std::move(jobs)}};
}

json point_json(const std::string& key, const SeriesPoint& point) {
  return {{"key", key},
          {"step", point.step},
          {"time_ms", to_millis(point.time)},
          {"value", number_to_json(point.value)}};
}

}  // namespace podium
