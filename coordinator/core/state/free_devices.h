// How many devices of one kind each node has free, with nodes sorted into buckets by that number, for the
// whole cluster and for each leaf switch. Placement searches it. A plain value: a plan works on a copy.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "coordinator/core/state/node_bits.h"

namespace podium {

// Where a node is in the network: its leaf switch and that switch's spine. Fabric assigns the numbers; 0 is
// unknown. Bandwidths are in Gb/s.
struct NetworkPlace {
  std::uint16_t leaf = 0;
  std::uint16_t spine = 0;
  std::uint32_t gbps = 0;         // to its leaf switch, over all rails
  std::uint32_t uplink_gbps = 0;  // its part of the switch's bandwidth to the spine

  bool operator==(const NetworkPlace&) const = default;
};

// Devices of one node.
struct NodeSlice {
  std::size_t node = 0;  // its ordinal
  int devices = 0;

  bool operator==(const NodeSlice&) const = default;
};

using NodeSlices = std::vector<NodeSlice>;

// Element i counts the nodes with i + 1 free devices.
using NodeCounts = std::span<const std::int32_t>;

class FreeDevices {
 public:
  // Nodes that were never set have no free devices.
  void set(std::size_t node, int free);
  void add(std::size_t node, int devices) { set(node, free(node) + devices); }
  // Nodes that were never placed are under no known switch.
  void place(std::size_t node, NetworkPlace place);

  int free(std::size_t node) const { return node < free_.size() ? free_[node] : 0; }
  std::int64_t total() const { return total_; }
  int most() const;  // on one node
  std::int64_t nodes_with(int at_least) const;

  std::size_t leaf(std::size_t node) const;
  std::size_t leaves() const { return places_ ? places_->leaves.size() : 1; }  // numbers below it exist
  std::size_t spine_of(std::size_t leaf) const { return places_ ? places_->leaves[leaf].spine : 0; }
  // Bandwidth of the slowest node under the switch, to the switch and beyond it to the spine; 0: unknown.
  std::uint32_t gbps_in(std::size_t leaf) const;
  std::uint32_t gbps_beyond(std::size_t leaf) const;
  NodeCounts in_leaf(std::size_t leaf) const;

  // body(node) for nodes with exactly `free` devices, by ordinal, until it returns false.
  template <class Body>
  bool each_with(int free, const Body& body) const {
    return static_cast<std::size_t>(free) >= with_.size() ||
           with_[static_cast<std::size_t>(free)].nodes.each(body);
  }

  // Compares what is free. The numbers of switches are only names and differ between equal states.
  bool operator==(const FreeDevices& other) const;

 private:
  struct Bucket {
    NodeBits nodes;
    std::int64_t count = 0;
  };
  using Counts = std::map<std::uint32_t, std::int32_t>;  // of nodes, by bandwidth
  struct Leaf {
    std::uint16_t spine = 0;
    Counts gbps, uplink_gbps;  // the unknown leaf 0 has none
  };
  struct Places {
    std::vector<NetworkPlace> of;  // by node
    std::vector<Leaf> leaves{1};

    void count(NetworkPlace place, int by);
  };

  void widen(std::size_t most);
  void count(std::size_t leaf, int free, int by);

  std::vector<std::int16_t> free_;  // by node
  std::vector<Bucket> with_;        // by number of free devices; none for 0
  std::int64_t total_ = 0;
  // Shared by copies, because plans copy often and nodes hardly ever move. Copied before a write while it is
  // shared.
  std::shared_ptr<Places> places_;
  std::size_t width_ = 0;              // of a leaf's part of in_leaf_: the most free ever seen on a node
  std::vector<std::int32_t> in_leaf_;  // (leaf × width_ + free − 1) → nodes
};

}  // namespace podium
