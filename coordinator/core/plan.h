// What to do next with the state as it is: which waiting jobs start where, which attempts make room, when to
// look again, and why every other job waits. Pure. A policy orders the jobs; gangs start whole or not at all
// under every policy.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/core/events.h"

namespace podium {

struct Start {
  JobId job;
  Allocation allocation;
};

struct Preemption {
  JobId job;
  std::string reason;
};

struct Plan {
  std::vector<Start> start;
  std::vector<Preemption> preempt;
  std::map<JobId, std::string> blocked;  // jobs that were tried and could not start, and why
  std::optional<Time> wake_at;           // when the next timer of a job or node runs out
};

class Policy {
 public:
  virtual ~Policy() = default;
  virtual void schedule(const ClusterState& state, Time now, Plan& plan) const = 0;
};

// Priority, then age. A job that cannot start yet keeps its place: later jobs for the same kind of device
// wait behind it, but for what it can never use: nodes with fewer devices than its smallest share of one, and
// everything when the nodes known cannot hold it.
class PriorityPolicy final : public Policy {
 public:
  // With `preempt`, a blocked job may stop running jobs of lower priority to make room.
  explicit PriorityPolicy(bool preempt = false) : preempt_(preempt) {}
  void schedule(const ClusterState& state, Time now, Plan& plan) const override;

 private:
  bool preempt_;
};

Plan make_plan(const ClusterState& state, const Policy& policy, Time now);

// The events that carry out a plan made for this very state.
Events enact(const ClusterState& state, const Plan& plan, Time now);

// Why a queued job waits, "needs 2 free cpu devices on nodes that are up; 1 is free"; "" for any other job.
// Plans only try the head of each queue, so this is asked for where it is shown.
std::string waiting_reason(const ClusterState& state, const Plan& plan, JobId job, Time now);

}  // namespace podium
