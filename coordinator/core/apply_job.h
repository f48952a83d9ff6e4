// Parts of `apply` that others need: what concerns one job alone, so that `handle` can look ahead on a copy
// of it, and the indexes, so that a snapshot need not hold them.
#pragma once

#include "coordinator/core/events.h"

namespace podium {

void apply_to_job(Job& job, const Event& event);

void enter_indexes(ClusterState& state, const Job& job);
void leave_indexes(ClusterState& state, const Job& job);
void enter_window(ClusterState& state, const Node& node);

}  // namespace podium
