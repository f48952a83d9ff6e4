// The indexes of ClusterState, kept by `apply`; a snapshot does not hold them.
#pragma once

#include "coordinator/core/state/state.h"

namespace podium {

// Around each change of a job.
void leave_indexes(ClusterState& state, const Job& job);
void enter_indexes(ClusterState& state, const Job& job);
// After a change of a node's maintenance window or reservation.
void enter_window(ClusterState& state, const Node& node);

}  // namespace podium
