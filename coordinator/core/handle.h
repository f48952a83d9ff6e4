// The decision: a command and the state give events, or a refusal that says why. Pure; the same arguments
// give the same answer. The caller applies the events, plans, enacts the plan and commits all of it as one
// turn:
//
//   events = handle(state, command, now);  apply_all(state, events);
//   plan   = make_plan(state, now);
//   more   = enact(state, plan, now);      apply_all(state, more);
//   store.commit(events + more)            … and only then replies, orders and live updates leave the
//   process.
#pragma once

#include <optional>

#include "common/base/error.h"
#include "coordinator/core/events/commands.h"
#include "coordinator/core/events/events.h"

namespace podium {

Result<Events> handle(const ClusterState& state, const Command& command, Time now);

// When a Tick next has something to do: a job's time, a deadline or a maintenance window runs out, or a
// node's silence begins to mean something.
std::optional<Time> next_tick(const ClusterState& state, Time now);

}  // namespace podium
