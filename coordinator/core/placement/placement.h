// Where a gang fits, which devices of its nodes it takes, and how its ranks are laid over them. choose.cc
// says what is preferred; ranks follow the network, so that neighbours in rank are neighbours there.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/core/state/blocker.h"
#include "coordinator/core/state/state.h"

namespace podium {

// Whether `choose` would find a place; costs little, however many nodes there are.
bool fits(const FreeDevices& free, const Shape& shape);
// The nodes a gang would take; nothing when it does not fit whole.
std::optional<NodeSlices> choose(const FreeDevices& free, const Shape& shape);

// Whether the job's gang could ever be placed without these nodes.
bool fits_without(const ClusterState& state, const JobRequest& request, const std::vector<NodeId>& nodes);

// The pool less the nodes that the job avoids, while there are others that could hold it.
DevicePool without_avoided(const ClusterState& state, const DevicePool& pool, const Job& job);

// The pool less the nodes against which a failure of the job is held (nodes/suspicion.h).
DevicePool without_suspects(const ClusterState& state, const DevicePool& pool, const Job& job);

// The devices and ports that a plan has granted so far.
struct Granted {
  std::map<std::size_t, std::set<int>> devices;  // indexes
  std::map<NodeId, std::set<int>> ports;         // the first of each attempt whose rank 0 is there
};

// Names the devices and the ports, and counts them as given. The search for ports that no attempt on the node
// has begins at a place of the cluster's own with those of `nth_attempt`, so that they come back late. Ranks
// count by spine, switch and node; tensor groups stay within an island where the free devices allow it, and
// on a network with rails the nodes give the same devices where they can.
Allocation allocate(const ClusterState& state, const JobRequest& request, const NodeSlices& slices,
                    Granted& granted, std::int64_t nth_attempt);

// "needs 2 free cpu devices on nodes that are up; 1 is free".
Blocker shortage(const FreeDevices& free, const JobRequest& request);

// Why the nodes known, with all their devices free, could not hold it: "asks for 16 gpu devices; the cluster
// has 8 on 1 node". Nothing when they could, or when no node has joined yet and the cluster's size is
// unknown.
std::optional<std::string> never_fits(const ClusterState& state, const JobRequest& request);

}  // namespace podium
