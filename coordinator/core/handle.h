// Decides: turns a command into events, or refuses it with a reason. Pure: equal arguments give equal
// results. The caller applies the events, plans, enacts the plan and commits all of it as one turn:
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

// When the next Tick has something to do: a job's timer, a deadline or a maintenance window ends, or a node's
// silence changes its state.
std::optional<Time> next_tick(const ClusterState& state, Time now);

}  // namespace podium
