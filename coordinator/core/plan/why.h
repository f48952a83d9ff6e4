// Why a job waits: every reason, from the plan and the state that it was made for. Pure. blockers_of walks
// over the queue and the running jobs of the job's kind, so it is called for one job at a time;
// waiting_reason is the one line that lists show.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/plan/plan.h"

namespace podium {

// The most important reason comes first. Empty for a job that does not wait.
std::vector<Blocker> blockers_of(const ClusterState& state, const Plan& plan, JobId job, Time now);

// The best blocked job of each kind (and of each account, where the policy goes by account), which all jobs
// after it wait behind. The constructor visits every blocked job, so make one object for a whole list.
class Foremost {
 public:
  Foremost(const ClusterState& state, const Plan& plan, Time now);
  // Null where none is ahead of the job. `state` must be that of the plan.
  const Job* ahead_of(const ClusterState& state, const Job& job) const;

 private:
  using Lane = std::pair<std::string, std::string>;  // kind and account, or ""
  Lane lane_of(const JobRequest& request) const;

  bool by_account_ = false;
  std::map<Lane, QueueKey> best_;
};

// "needs 2 free cpu devices on nodes that are up; 1 is free"; "" for a job that does not wait. Plans try only
// the head of each queue, so call this for the jobs that are shown.
std::string waiting_reason(const ClusterState& state, const Plan& plan, const Foremost& foremost, JobId job);

// What keeps a queued job from being in line.
BlockerCode blocker_apart(const Job& job);

// A duration, rounded up: "2h11m", "45s".
std::string about(Duration duration);

}  // namespace podium
