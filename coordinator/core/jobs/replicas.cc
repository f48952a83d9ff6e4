#include "coordinator/core/jobs/replicas.h"

#include <algorithm>
#include <set>

#include "common/base/units.h"
#include "coordinator/core/jobs/draft.h"

namespace podium {
namespace {

const std::set<JobId>& replicas_of(const ClusterState& state, const std::string& service) {
  static const std::set<JobId> none;
  const auto found = state.indexes.services.find(service);
  return found == state.indexes.services.end() ? none : found->second;
}

// The replica, or why nothing can be asked of it.
Result<const Job*> find_replica(const ClusterState& state, JobId id) {
  const Job* job = find_job(state, id);
  if (!job) return Error{ErrorCode::conflict, "job " + to_string(id) + " does not live", ""};
  if (!job->request.replica)
    return Error{ErrorCode::conflict, "job " + to_string(id) + " is not a replica of a service", ""};
  return job;
}

// Whether an experiment that was to take the place of others never will: a replica has ended, and none is
// active.
bool is_halted(const ClusterState& state, const std::string& service, ExperimentId experiment) {
  std::ptrdiff_t own = 0, most = 0;
  for (const JobId id : replicas_of(state, service)) {
    const Job& job = state.jobs.at(id);
    if (job.experiment != experiment) continue;
    if (is_active_replica(job)) return false;
    most = job.request.replica->max;
    ++own;
  }
  return own < most;
}

}  // namespace

bool is_active_replica(const Job& job) {
  const bool ends = job.attempt && job.attempt->stop == StopCause::cancelled;
  return !job.paused && !ends && (job.attempt || !job.held);
}

Result<Events> pause_replica(const ClusterState& state, const PauseReplica& command, Time now) {
  const auto replica = find_replica(state, command.job);
  if (!replica) return replica.errors();
  if ((*replica)->paused) return Events{};
  Events events;
  JobDraft draft(**replica, events, now);
  draft.emit(ReplicaPaused{command.job, command.reason});
  if (draft.job().attempt) draft.stop(StopCause::paused, "paused by its service: " + command.reason);
  return events;
}

Result<Events> promote_replica(const ClusterState& state, const PromoteReplica& command, Time now) {
  const auto replica = find_replica(state, command.job);
  if (!replica) return replica.errors();
  if (!(*replica)->paused) return Events{};
  return Events{{now, ReplicaPromoted{command.job, command.reason}}};
}

std::optional<ExperimentId> newest_experiment(const ClusterState& state, const std::string& service) {
  std::optional<ExperimentId> newest;
  for (const JobId id : replicas_of(state, service))
    newest = std::max(newest, std::optional(state.jobs.at(id).experiment));
  return newest;
}

std::string why_begins_paused(const ClusterState& state, const Replica& replica, std::int64_t index) {
  if (const auto earlier = newest_experiment(state, replica.service))
    return "it takes the place of a replica of experiment " + to_string(*earlier);
  return index < replica.min ? ""
                             : "the first " + std::to_string(replica.min) + " serve until the load grows";
}

std::string why_replica_paused(const ClusterState& state, const Job& job) {
  const std::string& service = job.request.replica->service;
  const std::optional<ExperimentId> newest = newest_experiment(state, service);
  const bool halted = newest && is_halted(state, service, *newest);
  std::size_t needed = 0, all = 0;
  std::optional<ExperimentId> earlier, later;
  for (const JobId id : replicas_of(state, service)) {
    const Job& other = state.jobs.at(id);
    if (halted && other.experiment == newest && job.experiment != newest) continue;
    if (other.experiment < job.experiment) earlier = other.experiment;
    if (other.experiment > job.experiment) later = other.experiment;
    ++all;
    needed += !other.paused;
  }
  const std::string text = "is paused by its service: ";
  if (later) return text + "experiment " + to_string(*later) + " takes its place";
  if (earlier && halted)
    return text + "a replica of its spec has ended and none is active, so that experiment " +
           to_string(*earlier) + " goes on";
  if (earlier) return text + "the replicas of experiment " + to_string(*earlier) + " are replaced one by one";
  return text + std::to_string(needed) + " of its " + std::to_string(all) +
         (all == 1 ? " replica is" : " replicas are") +
         " enough for its load; one more starts once requests "
         "wait longer than " +
         format_duration(job.request.replica->queue);
}

}  // namespace podium
