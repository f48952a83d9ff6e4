// What choose.cc and choose_stages.cc use to compare groups of nodes.
#pragma once

#include <algorithm>
#include <vector>

#include "coordinator/core/state/state.h"

namespace podium {

// What a gang needs from a group of nodes, which is given as counts of nodes by free devices.
class Need {
 public:
  // `whole`: a node's devices are used in whole tensor groups only.
  Need(const Shape& shape, bool whole)
      : devices_(shape.devices),
        per_node_(shape.per_node),
        full_(even() ? shape.devices / shape.per_node : 0),
        rest_(even() ? shape.devices % shape.per_node : 0),
        unit_(whole ? shape.tensor : 1) {}

  bool even() const { return per_node_ > 0; }
  int devices() const { return devices_; }
  int per_node() const { return per_node_; }
  int full() const { return full_; }  // nodes with `per_node` devices each
  int rest() const { return rest_; }  // devices on one node more
  int usable(int free) const { return free - free % unit_; }

  bool held_by(NodeCounts counts) const {
    if (!even()) return size_of(counts) >= devices_;
    return at_least(counts, per_node_) >= full_ && (rest_ == 0 || at_least(counts, rest_) >= full_ + 1);
  }
  // How much of the gang a group could hold, for comparing groups.
  std::int64_t size_of(NodeCounts counts) const {
    if (even()) return at_least(counts, per_node_);
    std::int64_t devices = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) devices += counts[i] * usable(static_cast<int>(i) + 1);
    return devices;
  }
  // The fewest nodes of a group that hold the gang.
  int nodes_of(NodeCounts counts) const {
    if (even()) return full_ + (rest_ > 0);
    int nodes = 0, left = devices_;
    for (std::size_t i = counts.size(); i-- > 0 && left > 0;) {
      const int each = usable(static_cast<int>(i) + 1);
      if (each == 0) continue;
      const int taken = std::min(counts[i], (left + each - 1) / each);
      nodes += taken;
      left -= taken * each;
    }
    return nodes;
  }

 private:
  static std::int64_t at_least(NodeCounts counts, int free) {
    std::int64_t nodes = 0;
    for (auto i = static_cast<std::size_t>(free) - 1; i < counts.size(); ++i) nodes += counts[i];
    return nodes;
  }

  int devices_, per_node_, full_, rest_, unit_;
};

inline std::int64_t devices_in(NodeCounts counts) {
  std::int64_t devices = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) devices += counts[i] * static_cast<std::int64_t>(i + 1);
  return devices;
}

// For each switch, the node that joined first of those with a free device. It decides between equal switches,
// because a replay may number switches differently.
class FirstNodes {
 public:
  explicit FirstNodes(const FreeDevices& free) : free_(free) {}

  std::size_t under(std::size_t leaf) {
    if (first_.empty()) look();
    return first_[leaf];
  }

 private:
  void look() {
    first_.assign(free_.leaves(), SIZE_MAX);
    for (int with = free_.most(); with > 0; --with)
      free_.each_with(with, [&](std::size_t node) {
        std::size_t& first = first_[free_.leaf(node)];
        first = std::min(first, node);
        return true;
      });
  }

  const FreeDevices& free_;
  std::vector<std::size_t> first_;  // by leaf; empty until asked for
};

}  // namespace podium
