// Indexes::pools, written by `apply`: one pool for every device kind, and one for every set of node labels
// that live jobs ask for, so that a plan never visits nodes one by one.
#pragma once

#include "coordinator/core/state/state.h"

namespace podium {

bool matches(const Node& node, const Labels& wanted);

// Updates the pools after any change of a node.
void count_node(ClusterState& state, const Node& node);
// The same, faster, where only the holders of its devices changed.
void count_allocated(ClusterState& state, const Node& node);

// A live job joins the pool that it asks for; the pool is dropped when the last leaves.
void join_pool(ClusterState& state, const JobRequest& request);
void leave_pool(ClusterState& state, const JobRequest& request);

// All devices that `request` could ever get, for a request that no pool counts yet.
FreeDevices count_capacity(const ClusterState& state, const JobRequest& request);

}  // namespace podium
