// Indexes::pools, written by apply: one for every device kind, and one for every set of node labels that
// live jobs ask for, so that a plan never looks at nodes one by one.
#pragma once

#include "coordinator/core/state/state.h"

namespace podium {

bool matches(const Node& node, const Labels& wanted);

// Brings the pools up to date with a node about which anything may have changed.
void count_node(ClusterState& state, const Node& node);
// The same where only its devices changed hands.
void count_allocated(ClusterState& state, const Node& node);

// A job that lives asks for a pool; the last that leaves takes it along.
void join_pool(ClusterState& state, const JobRequest& request);
void leave_pool(ClusterState& state, const JobRequest& request);

// All devices that `request` may ever get, where no live job asks for the same and no pool counts them.
FreeDevices count_capacity(const ClusterState& state, const JobRequest& request);

}  // namespace podium
