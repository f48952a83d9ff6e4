// What the exit of a task means: whom to blame, whether to retry, and a description. There are two tables of
// retry rules: one for podium-worker, one for users' own programs.
#pragma once

#include <optional>
#include <string>

#include "common/base/time.h"
#include "common/model/sync.h"
#include "coordinator/core/state/job.h"

namespace podium {

// An attempt that fails within this time of its start may have failed because of its node.
inline constexpr Duration kQuick = std::chrono::seconds(60);

// Whether the job is started again after an exit, and which budget pays for it.
enum class Retry {
  never,    // it can never work as written
  failure,  // counts against JobRequest::max_restarts
  requeue,  // it asked to be started again; kRequeues
  move,     // again on other nodes; kMoves
  lacking,  // its node lacks what it needs: once more on another node, where there is one
  wait,     // again after a pause, in which an operator may free room; kRequeues
};

Retry retry_after(const TaskExit& exit, bool user_program);

// Whether the exit, soon after the start, makes its node a suspect.
bool may_be_the_nodes_fault(const TaskExit& exit, bool user_program);

// Whether a task that is over here may still run: it was lost, or its agent has no record of it, or one from
// before its node started, and so may run on a copy of the node.
bool may_still_run(TaskPhase phase, const TaskExit& exit);

// `stopping`: the attempt had been told to stop before.
Blame blame_for(const TaskExit& exit, bool stopping, bool user_program);

// "exit code 65 (unreadable or malformed input): corpus/a.txt: No such file", "killed by signal 9 (SIGKILL)",
// "stopped because the coordinator was silent for longer than its lease". The meaning of a code depends on
// the program; without `user_program` only the code is given.
std::string describe_exit(const TaskExit& exit, std::optional<bool> user_program);

}  // namespace podium
