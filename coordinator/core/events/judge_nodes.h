// The part of `apply` that records failures against nodes and clears them; nodes/suspicion.h has the rule.
#pragma once

#include "coordinator/core/events/events.h"

namespace podium {

inline constexpr Duration kSuspectFor = std::chrono::hours(1);

// Call before the ended attempt is removed from the job.
void judge_nodes(ClusterState& state, const Job& job, const AttemptEnded& ended, Time at);
void forgive_node(ClusterState& state, const NodeId& node);

}  // namespace podium
