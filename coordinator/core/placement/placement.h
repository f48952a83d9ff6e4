// Where a gang fits, which devices it takes, and how its ranks are laid over them. choose.cc says what is
// preferred. Ranks follow the network, so that neighbouring ranks are near each other.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/core/state/blocker.h"
#include "coordinator/core/state/state.h"

namespace podium {

// Whether `choose` would find a place. Its cost does not depend on the number of nodes.
bool fits(const FreeDevices& free, const Shape& shape);
// The nodes that a gang would take; nothing where it does not fit whole.
std::optional<NodeSlices> choose(const FreeDevices& free, const Shape& shape);

// Whether the job's gang could ever be placed without these nodes.
bool fits_without(const ClusterState& state, const JobRequest& request, const std::vector<NodeId>& nodes);

// The pool without the nodes that the job avoids, if the others could hold the job.
DevicePool without_avoided(const ClusterState& state, const DevicePool& pool, const Job& job);

// The pool without the nodes against which a failure of the job is recorded (nodes/suspicion.h).
DevicePool without_suspects(const ClusterState& state, const DevicePool& pool, const Job& job);

// The pool without these nodes' free devices.
DevicePool without_free(const ClusterState& state, DevicePool pool, const std::vector<NodeId>& nodes);

// The devices and ports that a plan has granted so far.
struct Granted {
  std::map<std::size_t, std::set<int>> devices;  // indexes
  std::map<NodeId, std::set<int>> ports;         // the first of each attempt whose rank 0 is there
};

// Chooses the devices and the ports, and adds them to `granted`. The search for free ports begins at a place
// that depends on the cluster and on `nth_attempt`, so that ports are not reused soon. Ranks count by spine,
// switch and node. Tensor groups stay within an island where the free devices allow it. On a network with
// rails, the same devices of each node are taken where possible.
Allocation allocate(const ClusterState& state, const JobRequest& request, const NodeSlices& slices,
                    Granted& granted, std::int64_t nth_attempt);

// "needs 2 free cpu devices on nodes that are up; 1 is free".
Blocker shortage(const FreeDevices& free, const JobRequest& request);

// How many nodes on demand would hold the gang; 0: no number of them.
int nodes_on_demand(const SchedulingOptions& scheduling, const JobRequest& request);

// Why the known nodes, or those on demand, could not hold the gang even with all devices free: "asks for 16
// gpu devices; the cluster has 8 on 1 node". Nothing where they could, or where no node has joined yet.

std::optional<std::string> never_fits(const ClusterState& state, const JobRequest& request);

}  // namespace podium
