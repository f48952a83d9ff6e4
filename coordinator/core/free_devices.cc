#include "coordinator/core/free_devices.h"

#include "common/base/check.h"

namespace podium {

void FreeDevices::set(std::size_t node, int free) {
  PODIUM_CHECK(free >= 0 && free <= INT16_MAX, "a node has between 0 and 32,767 free devices");
  if (node >= free_.size()) free_.resize(node + 1);
  const int before = free_[node];
  if (before == free) return;
  if (before > 0) {
    Bucket& left = with_[static_cast<std::size_t>(before)];
    left.nodes.reset(node);
    --left.count;
  }
  if (free > 0) {
    if (static_cast<std::size_t>(free) >= with_.size()) with_.resize(static_cast<std::size_t>(free) + 1);
    Bucket& joined = with_[static_cast<std::size_t>(free)];
    joined.nodes.set(node);
    ++joined.count;
  }
  free_[node] = static_cast<std::int16_t>(free);
  total_ += free - before;
}

int FreeDevices::most() const {
  for (std::size_t free = with_.size(); free-- > 1;)
    if (with_[free].count > 0) return static_cast<int>(free);
  return 0;
}

std::int64_t FreeDevices::nodes_with(int at_least) const {
  std::int64_t nodes = 0;
  for (auto free = static_cast<std::size_t>(at_least); free < with_.size(); ++free)
    nodes += with_[free].count;
  return nodes;
}

}  // namespace podium
