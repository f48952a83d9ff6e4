// Which device is allocated to which job; only `apply` calls this. A device is granted to one job at a time
// and stays allocated as long as Attempt::is_allocated.
#pragma once

#include "coordinator/core/state/state.h"

namespace podium {

// Takes over what the agent reports. A device that it no longer reports stays, unusable, while a job holds
// it.
void describe_node(Node& node, const NodeDescription& description);

// For a new attempt: grants its devices, charges its account and raises its nodes' orders versions.
void grant_devices(ClusterState& state, const Job& job, Time at);

// return_devices: returns the devices of all tasks of the attempt that are over. return_devices_of: of one
// rank.
void return_devices(ClusterState& state, const Job& job, Time at);
void return_devices_of(ClusterState& state, const Job& job, std::size_t rank, Time at);

// From `at` on the job's accounts have `devices` more allocated; fewer where negative.
void charge_account(ClusterState& state, const Job& job, int devices, Time at);

}  // namespace podium
