// How many devices of one kind each node has free, sorted into buckets by that number: what placement
// searches. A plain value; a plan works on a copy.
#pragma once

#include <cstdint>
#include <vector>

#include "coordinator/core/node_bits.h"

namespace podium {

class FreeDevices {
 public:
  // Nodes that were never set have none.
  void set(std::size_t node, int free);
  void add(std::size_t node, int devices) { set(node, free(node) + devices); }

  int free(std::size_t node) const { return node < free_.size() ? free_[node] : 0; }
  std::int64_t total() const { return total_; }
  int most() const;  // on one node
  std::int64_t nodes_with(int at_least) const;

  // body(node) for nodes with exactly `free` devices, by ordinal, until it returns false.
  template <class Body>
  bool each_with(int free, const Body& body) const {
    return static_cast<std::size_t>(free) >= with_.size() ||
           with_[static_cast<std::size_t>(free)].nodes.each(body);
  }

  bool operator==(const FreeDevices& other) const { return free_ == other.free_; }

 private:
  struct Bucket {
    NodeBits nodes;
    std::int64_t count = 0;
  };

  std::vector<std::int16_t> free_;  // by node
  std::vector<Bucket> with_;        // by number of free devices; none for 0
  std::int64_t total_ = 0;
};

}  // namespace podium
