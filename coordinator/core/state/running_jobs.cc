#include "coordinator/core/state/running_jobs.h"

#include <algorithm>
#include <utility>

#include "coordinator/core/state/state.h"

namespace podium {
namespace {

NodeSlices slices_of(const ClusterState& state, const Allocation& allocation) {
  NodeSlices slices;
  const NodeId* last = nullptr;  // ranks count by node
  for (const Placement& place : allocation.ranks) {
    if (!last || *last != place.node) slices.push_back({state.nodes.at(place.node).ordinal, 0});
    slices.back().devices += place.devices();
    last = &place.node;
  }
  return slices;
}

}  // namespace

Standing standing_of(const Job& job) {
  return {job.submitted,
          job.request.priority,
          job.devices(),
          job.request.walltime,
          job.served,
          job.attained,
          job.attempt ? job.attempt->started : std::nullopt};
}

const RunningJob* RunningJobs::find(JobId job) const {
  const auto place = place_.find(job);
  return place == place_.end() ? nullptr : &jobs_[place->second];
}

void RunningJobs::put(RunningJob job) {
  const auto [place, added] = place_.try_emplace(job.job, jobs_.size());
  if (added)
    jobs_.push_back(std::move(job));
  else
    jobs_[place->second] = std::move(job);
}

void RunningJobs::remove(JobId job) {
  const auto place = place_.find(job);
  if (place == place_.end()) return;
  const std::size_t hole = place->second;
  place_.erase(place);
  if (hole + 1 < jobs_.size()) {
    jobs_[hole] = std::move(jobs_.back());
    place_.at(jobs_[hole].job) = hole;
  }
  jobs_.pop_back();
}

bool RunningJobs::operator==(const RunningJobs& other) const {
  return size() == other.size() && std::ranges::all_of(jobs_, [&](const RunningJob& job) {
           const RunningJob* same = other.find(job.job);
           return same && *same == job;
         });
}

void follow_running(ClusterState& state, const Job& job) {
  const RunningKey key{job.request.kind, job.request.account};
  const auto group = state.indexes.running.find(key);
  if (!job.attempt || job.attempt->stop != StopCause::none) {
    if (group == state.indexes.running.end()) return;
    group->second.remove(job.id);
    if (group->second.empty()) state.indexes.running.erase(group);
    return;
  }
  RunningJob now{job.id, job.attempts, standing_of(job), job.attempt->created, job.saved, {}};
  const RunningJob* known = group == state.indexes.running.end() ? nullptr : group->second.find(job.id);
  now.slices =
      known && known->attempt == now.attempt ? known->slices : slices_of(state, job.attempt->allocation);
  state.indexes.running[key].put(std::move(now));
}

}  // namespace podium
