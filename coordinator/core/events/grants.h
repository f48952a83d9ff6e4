// Which job holds which device: kept by `apply`, never by anything else. A device is granted once, and it is
// its job's for as long as Attempt::holds says.
#pragma once

#include "coordinator/core/state/state.h"

namespace podium {

// What the agent reports now. Devices it no longer reports stay while a job holds them, unusable.
void describe_node(Node& node, const NodeDescription& description);

// Of a new attempt: grants its devices, charges its account and tells its nodes.
void take_devices(ClusterState& state, const Job& job, Time at);

// Gives back the devices of the attempt's tasks that are over, and of one of them alone.
void release_devices(ClusterState& state, const Job& job, Time at);
void release_device(ClusterState& state, const Job& job, std::size_t rank, Time at);

// The job's attempt takes (or gives back, where negative) so many devices at `at`.
void charge_account(ClusterState& state, const Job& job, int devices, Time at);

}  // namespace podium
