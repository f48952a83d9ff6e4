// Why a job waits: everything that stands between it and its start, from the plan and the state it was made
// for. Pure. Costs a walk over the queue and the running jobs of the job's kind, so it is asked for one job
// at a time; waiting_reason is the one line of it that lists show.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/plan/plan.h"

namespace podium {

// Empty for a job that does not wait. What to know first comes first.
std::vector<Blocker> blockers_of(const ClusterState& state, const Plan& plan, JobId job, Time now);

// The best job of each kind (and account, where the policy goes by them) that was tried and is blocked: whom
// all that come after it wait behind. Looks at every blocked job once, so a list of many jobs makes one.
class Foremost {
 public:
  Foremost(const ClusterState& state, const Plan& plan, Time now);
  // Null when none is ahead of the job. `state` is that of the plan.
  const Job* ahead_of(const ClusterState& state, const Job& job) const;

 private:
  using Lane = std::pair<std::string, std::string>;  // kind and account, or ""
  Lane lane_of(const JobRequest& request) const;

  bool by_account_ = false;
  std::map<Lane, QueueKey> best_;
};

// "needs 2 free cpu devices on nodes that are up; 1 is free"; "" for a job that does not wait. Plans only try
// the head of each queue, so this is asked for where it is shown.
std::string waiting_reason(const ClusterState& state, const Plan& plan, const Foremost& foremost, JobId job);

// What keeps a queued job out of its line.
BlockerCode blocker_apart(const Job& job);

// A duration in round numbers, never less than it is: "2h11m", "45s".
std::string about(Duration duration);

}  // namespace podium
