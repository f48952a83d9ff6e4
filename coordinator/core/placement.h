// Where a gang fits. Devices of one node are used in index order; a gang takes as few nodes as it can, and of
// those that fit the fullest, so that large holes stay large.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/core/state.h"

namespace podium {

// The devices of one kind on one node.
struct NodeRoom {
  NodeId node;
  std::vector<int>
      free;          // indexes of healthy devices nobody holds, ascending; none on a node that is not usable
  int capacity = 0;  // devices it has
};

using Room = std::vector<NodeRoom>;  // by node id

Room room_of(const ClusterState& state, const std::string& kind);

struct Share {
  std::size_t node = 0;  // in the Room
  int devices = 0;
};

// The nodes a gang would take, in the room's order; nothing when it does not fit whole.
std::optional<std::vector<Share>> choose(const Room& room, const JobRequest& request);

// Takes the devices out of the room. `nth_attempt` gives the attempt its ports.
Allocation allocate(const ClusterState& state, Room& room, const std::vector<Share>& shares,
                    std::int64_t nth_attempt);

// "needs 2 free cpu devices on nodes that are up; 1 is free".
std::string shortage(const Room& room, const JobRequest& request);

// Why the nodes known, with all their devices free, could not hold it: "asks for 16 gpu devices; the cluster
// has 8 on 1 node". Nothing when they could, or when no node has joined yet and the cluster's size is
// unknown.
std::optional<std::string> never_fits(const ClusterState& state, const JobRequest& request);

}  // namespace podium
