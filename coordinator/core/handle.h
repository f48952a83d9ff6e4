// The decision: a command and the state give events, or a refusal that says why. Pure; the same arguments
// give the same answer. The caller applies the events, plans, enacts the plan and commits all of it as one
// turn:
//
//   events = handle(state, command, now);  apply_all(state, events);
//   plan   = make_plan(state, policy, now);
//   more   = enact(state, plan, now);      apply_all(state, more);
//   store.commit(events + more)            … and only then replies, orders and live updates leave the
//   process.
#pragma once

#include "common/base/error.h"
#include "coordinator/core/commands.h"
#include "coordinator/core/events.h"

namespace podium {

Result<Events> handle(const ClusterState& state, const Command& command, Time now);

}  // namespace podium
