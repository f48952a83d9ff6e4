#include "coordinator/serving/replica_failures.h"

#include <algorithm>

namespace podium {

ReplicaFailures::ReplicaFailures(const ClusterState& state) {
  for (const auto& [id, job] : state.jobs) remember(id, job.experiment, job.request);
}

void ReplicaFailures::remember(JobId job, ExperimentId experiment, const JobRequest& request) {
  if (!request.replica) return;
  const std::string& service = request.replica->service;
  living_[job] = {service, experiment};
  const auto failed = failures_.find(service);
  if (failed != failures_.end() && failed->second.experiment < experiment) failures_.erase(failed);
}

// A job that has ended is no longer in the state.
void ReplicaFailures::notice(const Events& decided) {
  for (const Event& event : decided) {
    if (const auto* queued = std::get_if<JobQueued>(&event.body))
      remember(queued->job, queued->experiment, queued->request);
    if (const auto* recalled = std::get_if<JobRecalled>(&event.body))
      remember(recalled->job, recalled->experiment, recalled->request);
    const auto* changed = std::get_if<JobStateChanged>(&event.body);
    if (changed && is_terminal(changed->to)) end(*changed, event.at);
  }
}

void ReplicaFailures::end(const JobStateChanged& changed, Time at) {
  const auto ended = living_.extract(changed.job);
  if (ended.empty()) return;
  const auto& [service, experiment] = ended.mapped();
  const bool lives =
      std::ranges::any_of(living_, [&](const auto& replica) { return replica.second.service == service; });
  if (!lives)
    failures_.erase(service);
  else if (changed.to == JobState::failed)
    failures_[service] = {changed.job, experiment, changed.reason, at};
}

const ReplicaFailure* ReplicaFailures::find(const std::string& service) const {
  const auto known = failures_.find(service);
  return known == failures_.end() ? nullptr : &known->second;
}

}  // namespace podium
