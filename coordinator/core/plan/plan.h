// What to do next in the present state: which waiting jobs start and where, which attempts make room or
// change their size, until when this holds, and why every other job waits. Pure. The policy ranks the jobs
// (policy.h). Under every policy gangs start whole or not at all, and a backfilled job never delays a
// reservation.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/core/events/events.h"
#include "coordinator/core/plan/reservations.h"
#include "coordinator/core/state/blocker.h"

namespace podium {

struct Start {
  JobId job;
  Allocation allocation;
  bool backfilled = false;  // it passes a job that has a reservation
};

enum class PreemptionCause {
  priority,  // of the waiting job
  reclaim    // of devices that were borrowed from a quota
};

struct Preemption {
  JobId job;
  PreemptionCause cause = PreemptionCause::priority;
  std::string reason;
};

// An elastic job's attempt stops, to start again with another size.
struct Resizing {
  JobId job;
  Resize resize;
};

// The decisions, in buckets; the comment of each says what holds for all its entries.
struct Plan {
  // Waiting jobs that start now, each whole, on free devices that no other start has. No start delays a
  // reservation made before it.
  std::vector<Start> start;
  // Running jobs that stop and queue again. Each is needed: without it the job that it makes room for would
  // not fit.
  std::vector<Preemption> preempt;
  // Running elastic jobs that stop to start again with another size: smaller, so that a waiting job fits, or
  // larger, where no job of their kind waits for devices.
  std::vector<Resizing> resize;
  // Reserved starts of blocked jobs, best job first: where, and when at the latest if every running job takes
  // all of its walltime.
  std::vector<Reservation> reservations;
  // Waiting jobs that were tried and cannot start, and why. Jobs that were not tried are behind them in the
  // queue.
  std::map<JobId, Blocker> blocked;

  std::optional<Time> stale_at;  // when the passing of time alone changes the decisions
  std::int64_t epoch = -1;       // of the state it was made for
  bool conclusive = true;        // false: after it is enacted, another plan may decide more

  void stale_by(Time at) { stale_at = stale_at ? std::min(*stale_at, at) : at; }
  // Call when the plan was enacted and nothing else happened to the state.
  void carried_out(const ClusterState& state) {
    if (conclusive && preempt.empty() && resize.empty()) epoch = state.epoch;
  }
  // Whether a plan made now could decide otherwise.
  bool stale(const ClusterState& state, Time now) const {
    return epoch != state.epoch || (stale_at && *stale_at <= now);
  }
};

// Plans by the state's policy. Decides nothing while reports are awaited (awaits_reports), because a restored
// database may not know what nodes run. The cost depends on how many jobs start and how many shapes of jobs
// wait, not on how many jobs wait.
Plan make_plan(const ClusterState& state, Time now);

// The events that carry out a plan made for this very state.
Events enact(const ClusterState& state, const Plan& plan, Time now);

}  // namespace podium
