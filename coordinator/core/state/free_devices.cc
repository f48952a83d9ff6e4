#include "coordinator/core/state/free_devices.h"

#include <algorithm>

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
    count(leaf(node), before, -1);
  }
  if (free > 0) {
    if (static_cast<std::size_t>(free) >= with_.size()) with_.resize(static_cast<std::size_t>(free) + 1);
    Bucket& joined = with_[static_cast<std::size_t>(free)];
    joined.nodes.set(node);
    ++joined.count;
    count(leaf(node), free, 1);
  }
  free_[node] = static_cast<std::int16_t>(free);
  total_ += free - before;
}

void FreeDevices::place(std::size_t node, NetworkPlace place) {
  if (places_ && node < places_->of.size() && places_->of[node] == place) return;
  if (const int here = free(node); here > 0) count(leaf(node), here, -1);
  if (!places_)
    places_ = std::make_shared<Places>();
  else if (places_.use_count() > 1)
    places_ = std::make_shared<Places>(*places_);
  if (node >= places_->of.size()) places_->of.resize(node + 1);
  if (place.leaf >= places_->leaves.size()) places_->leaves.resize(std::size_t{place.leaf} + 1);
  places_->count(places_->of[node], -1);
  places_->count(place, 1);
  places_->of[node] = place;
  places_->leaves[place.leaf].spine = place.spine;
  if (const int here = free(node); here > 0) count(place.leaf, here, 1);
}

void FreeDevices::Places::count(NetworkPlace place, int by) {
  if (place.leaf == 0) return;
  const auto add = [by](Counts& counts, std::uint32_t gbps) {
    if ((counts[gbps] += by) == 0) counts.erase(gbps);
  };
  add(leaves[place.leaf].gbps, place.gbps);
  add(leaves[place.leaf].uplink_gbps, place.uplink_gbps);
}

std::uint32_t FreeDevices::gbps_in(std::size_t leaf) const {
  if (!places_ || places_->leaves[leaf].gbps.empty()) return 0;
  return places_->leaves[leaf].gbps.begin()->first;
}

std::uint32_t FreeDevices::gbps_beyond(std::size_t leaf) const {
  if (!places_ || places_->leaves[leaf].uplink_gbps.empty()) return 0;
  return places_->leaves[leaf].uplink_gbps.begin()->first;
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

std::size_t FreeDevices::leaf(std::size_t node) const {
  return places_ && node < places_->of.size() ? places_->of[node].leaf : 0;
}

NodeCounts FreeDevices::in_leaf(std::size_t leaf) const {
  const std::size_t begin = leaf * width_;
  return begin + width_ <= in_leaf_.size() ? NodeCounts(in_leaf_).subspan(begin, width_) : NodeCounts();
}

void FreeDevices::widen(std::size_t most) {
  if (most <= width_) return;
  std::vector<std::int32_t> wider;
  if (width_ > 0) wider.resize(in_leaf_.size() / width_ * most);
  for (std::size_t i = 0; i < in_leaf_.size(); ++i) wider[i / width_ * most + i % width_] = in_leaf_[i];
  in_leaf_ = std::move(wider);
  width_ = most;
}

void FreeDevices::count(std::size_t leaf, int free, int by) {
  widen(static_cast<std::size_t>(free));
  if ((leaf + 1) * width_ > in_leaf_.size()) in_leaf_.resize((leaf + 1) * width_);
  in_leaf_[leaf * width_ + static_cast<std::size_t>(free) - 1] += by;
}

bool FreeDevices::operator==(const FreeDevices& other) const {
  const std::size_t nodes = std::max(free_.size(), other.free_.size());
  for (std::size_t node = 0; node < nodes; ++node)
    if (free(node) != other.free(node)) return false;
  return true;
}

}  // namespace podium
