// Which device is allocated to which job: written by `apply` alone. A device is granted once, and it is its
// job's for as long as Attempt::is_allocated says.
#pragma once

#include "coordinator/core/state/state.h"

namespace podium {

// What the agent reports now. Devices it no longer reports stay while a job holds them, unusable.
void describe_node(Node& node, const NodeDescription& description);

// Of a new attempt: grants its devices, charges its account and tells its nodes.
void grant_devices(ClusterState& state, const Job& job, Time at);

// Returns the devices of the attempt's tasks that are over, and of one of them alone.
void return_devices(ClusterState& state, const Job& job, Time at);
void return_devices_of(ClusterState& state, const Job& job, std::size_t rank, Time at);

// So many devices more are allocated to the job's accounts from `at` on; fewer, where negative.
void charge_account(ClusterState& state, const Job& job, int devices, Time at);

}  // namespace podium
