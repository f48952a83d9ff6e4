// The agent's decisions: what to do so that the node's tasks become what the orders say. Pure.
//
// Rules it keeps, whatever the orders:
// - a task is started at most once, and never after a newer attempt of its job has been seen (the attempt
// fences);
// - a task starts only when no older attempt of its job lives here, no other task holds its device, and a
// GPU's
//   memory is free;
// - SIGTERM comes before SIGKILL by the grace period, except for tasks the orders no longer hold: these are
// fenced;
// - a node that hears nothing for a lease stops its tasks within 30 s of its end, because after that the
// coordinator
//   may start their jobs elsewhere.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/core/process_table.h"

namespace podium {

struct Start {
  Launch launch;
  std::vector<int> visible_devices;  // of this attempt on this node, by local rank
};

// The task gets no process, now or later; `exit` says why.
struct Refuse {
  TaskId task;
  TaskExit exit;
};

struct Terminate {
  TaskId task;
  Time kill_at;
  std::string reason;
};

struct Kill {
  TaskId task;
  std::string reason;
};

// Drop the task from the table and raise `forgotten` to its attempt.
struct Forget {
  TaskId task;
};

using Action = std::variant<Start, Refuse, Terminate, Kill, Forget>;

struct Actions {
  std::vector<Action> list;
  std::optional<Time> wake_at;  // reconcile again then, even if nothing else happens
};

// When a silent coordinator makes the agent stop a task with this grace period. The coordinator counts on
// `kill`: see `lost_after` in coordinator/core/state.h.
struct LeaseDeadlines {
  Time terminate;
  Time kill;
};
LeaseDeadlines lease_deadlines(Time last_sync, Duration lease, Duration grace);

// Orders of version 0 are "none heard yet": then only the lease acts.
Actions reconcile(const NodeOrders& orders, const ProcessTable& table, Time now);

}  // namespace podium
