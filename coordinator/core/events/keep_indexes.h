// Maintains the indexes of ClusterState for `apply`. Snapshots do not hold them.
#pragma once

#include "coordinator/core/state/state.h"

namespace podium {

// Call these around each change of a job.
void leave_indexes(ClusterState& state, const Job& job);
void enter_indexes(ClusterState& state, const Job& job);
// Call this after a change of a node's maintenance window or reservation.
void enter_window(ClusterState& state, const Node& node);

}  // namespace podium
