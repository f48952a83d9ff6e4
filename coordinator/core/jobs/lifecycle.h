// Decides what becomes of a job when its tasks are over: whether it is retried, and when. Each class of exit
// (state/exits.h) has its own budget, so that a lost node never costs a restart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/core/events/events.h"
#include "coordinator/core/state/exits.h"
#include "coordinator/core/state/state.h"

namespace podium {

inline constexpr int kRequeues = 50;
inline constexpr int kMoves = 3;
inline constexpr int kLosses = 100;
inline constexpr int kFruitless = 3;  // failed attempts in a row without a newer checkpoint
// A replica that has served for so long could read its model: what hinders it now is its node's fault.
inline constexpr Duration kProven = std::chrono::minutes(10);
inline constexpr Duration kAvoidFor = std::chrono::hours(1);  // the nodes that failed a job
inline constexpr Duration kLongestBackOff = std::chrono::minutes(5);
inline constexpr Duration kShortestWait = std::chrono::seconds(30);  // of Retry::wait

struct Verdict {
  AttemptEnd end = AttemptEnd::succeeded;
  JobState next = JobState::succeeded;        // succeeded, queued, failed or cancelled
  std::string attempt_reason;                 // why the attempt ended; "" where it succeeded
  std::string job_reason;                     // the same, and its consequence for the job
  RestartCause restart = RestartCause::none;  // of a job that is queued again
  RetryCounts retries;                        // as they will be
  std::optional<Time> not_before;
  std::vector<NodeId> avoid;
  std::optional<Time> avoid_until;
};

// All tasks of the job must be over.
Verdict conclude(const ClusterState& state, const Job& job, Time now);

}  // namespace podium
