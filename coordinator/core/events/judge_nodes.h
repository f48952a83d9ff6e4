// The part of `apply` that holds failures against nodes and clears them again; nodes/suspicion.h has the
// rule.
#pragma once

#include "coordinator/core/events/events.h"

namespace podium {

inline constexpr Duration kSuspectFor = std::chrono::hours(1);

// The attempt that the job still has ends.
void judge_nodes(ClusterState& state, const Job& job, const AttemptEnded& ended, Time at);
void forgive_node(ClusterState& state, const NodeId& node);

}  // namespace podium
