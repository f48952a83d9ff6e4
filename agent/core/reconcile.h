// The agent's decisions: the actions that make the node's tasks follow the orders. Pure.
//
// Rules it keeps, whatever the orders:
// - a task is started at most once: only when its orders say start, which they do until it was first
//   reported, and never after a newer attempt of its job has been seen (the attempt fences);
// - a task starts only when no older attempt of its job lives here, no other task has its device, and a
//   GPU's memory is free;
// - the stop signal comes before SIGKILL by the grace period, except for tasks that the orders no longer
// name:
//   these are fenced. No later agent, and no end of the lease, makes that period longer;
// - a task starts only behind its job's shared fence, and is killed when that stands at a newer attempt;
// - a node stops its tasks when its right to run them ends, because after that the coordinator may start
//   their jobs elsewhere (common/model/lease.h).
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/core/process_table.h"

namespace podium {

struct StartTask {
  Launch launch;
  std::vector<int> visible_devices;  // of this attempt on this node, by local rank
};

// The task gets no process, now or later; `exit` says why.
struct RefuseTask {
  TaskId task;
  TaskExit exit;
};

struct TerminateTask {
  TaskId task;
  Time kill_at;
  ExitCause cause;
};

// podium-shim kills the task, and has until `destroy_at` to do so.
struct KillTask {
  TaskId task;
  Time destroy_at;
  std::string reason;
};

// The shim does not kill the task, for instance because the program has stopped it: the agent kills both,
// with all that belongs to the task.
struct DestroyTask {
  TaskId task;
};

// Drop the task from the table and raise `forgotten` to its attempt.
struct ForgetTask {
  TaskId task;
};

using Action = std::variant<StartTask, RefuseTask, TerminateTask, KillTask, DestroyTask, ForgetTask>;

struct Actions {
  std::vector<Action> list;
  std::optional<Time> wake_at;  // reconcile again then, even if nothing else happens
};

// Until when a task of the table may run at present: the latest of the lease after the last sync, the time
// that the previous agent granted, and the time that its shared fence grants.
Time right_ends(const NodeOrders& orders, const ProcessTable& table, TaskId task);

// Orders of version 0 mean that none have arrived yet: then only the lease acts.
Actions reconcile(const NodeOrders& orders, const ProcessTable& table, Time now);

}  // namespace podium
