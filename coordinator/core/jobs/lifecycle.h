// What becomes of a job when its tasks end: whom to blame, what an exit means, whether to try again and when.
// The retry rules are one table; each class of exit has its own budget, so that a lost node never costs a
// restart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/core/events/events.h"
#include "coordinator/core/state/state.h"

namespace podium {

// May the job be started again after this exit, and at whose expense?
enum class Retry {
  never,    // it can never work as written
  failure,  // counts against JobRequest::max_restarts
  requeue,  // it asked to be started again; kRequeues
  move,     // again on other nodes; kMoves
  lacking,  // its node has not what it needs: again on one other node, where there is one
  wait,     // again after a pause, in which somebody may make room; kRequeues
};

inline constexpr int kRequeues = 50;
inline constexpr int kMoves = 3;
inline constexpr int kLosses = 100;
inline constexpr int kFruitless = 3;  // failed attempts in a row without a newer checkpoint
inline constexpr Duration kQuick = std::chrono::seconds(60);
inline constexpr Duration kAvoidFor = std::chrono::hours(1);  // the nodes that failed a job
inline constexpr Duration kLongestBackOff = std::chrono::minutes(5);
inline constexpr Duration kShortestWait = std::chrono::seconds(30);  // of Retry::wait

Retry retry_after(const TaskExit& exit, bool command);

// Whether other jobs are warned of the node on which it ended so soon after its start.
bool may_be_the_nodes_fault(const TaskExit& exit, bool command);

// `stopping`: the exit came after the attempt was told to stop.
Blame blame_for(const TaskExit& exit, bool stopping, bool command);

// "exit code 65 (unreadable or malformed input): corpus/a.txt: No such file", "killed by signal 9 (SIGKILL)",
// "stopped because the coordinator was silent for longer than its lease". What a code means depends on whose
// program it was; without `command` only the code is told.
std::string describe_exit(const TaskExit& exit, std::optional<bool> command);

struct Verdict {
  AttemptEnd end = AttemptEnd::succeeded;
  JobState next = JobState::succeeded;        // succeeded, queued, failed or cancelled
  std::string attempt_reason;                 // why the attempt ended; "" when it succeeded
  std::string job_reason;                     // that, and what follows from it
  RestartCause restart = RestartCause::none;  // of a job that is queued again
  RetryCounts retries;                        // as they will be
  std::optional<Time> not_before;
  std::vector<NodeId> avoid;
  std::optional<Time> avoid_until;
};

// For a job all of whose tasks are over.
Verdict conclude(const ClusterState& state, const Job& job, Time now);

}  // namespace podium
