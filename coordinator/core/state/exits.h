// What the exit of a task means: whom to blame, whether to try again, and in words. The retry rules are one
// table for Podium's worker and one for programs of the user's own.
#pragma once

#include <optional>
#include <string>

#include "common/base/time.h"
#include "common/model/sync.h"
#include "coordinator/core/state/job.h"

namespace podium {

// An attempt that fails so soon after it began may have failed by its node's fault.
inline constexpr Duration kQuick = std::chrono::seconds(60);

// May the job be started again after this exit, and at whose expense?
enum class Retry {
  never,    // it can never work as written
  failure,  // counts against JobRequest::max_restarts
  requeue,  // it asked to be started again; kRequeues
  move,     // again on other nodes; kMoves
  lacking,  // its node has not what it needs: again on one other node, where there is one
  wait,     // again after a pause, in which somebody may make room; kRequeues
};

Retry retry_after(const TaskExit& exit, bool user_program);

// Whether other jobs are warned of the node on which it ended so soon after its start.
bool may_be_the_nodes_fault(const TaskExit& exit, bool user_program);

// `stopping`: the exit came after the attempt was told to stop.
Blame blame_for(const TaskExit& exit, bool stopping, bool user_program);

// "exit code 65 (unreadable or malformed input): corpus/a.txt: No such file", "killed by signal 9 (SIGKILL)",
// "stopped because the coordinator was silent for longer than its lease". What a code means depends on whose
// program it was; without `user_program` only the code is told.
std::string describe_exit(const TaskExit& exit, std::optional<bool> user_program);

}  // namespace podium
