#include "coordinator/core/placement.h"

#include <algorithm>

#include "common/base/check.h"

namespace podium {
namespace {

constexpr int kFirstPort = 20000;  // below Linux's range for outgoing connections, which begins at 32768
constexpr int kPortsPerAttempt = 3;
constexpr int kPortSlots = 4000;

std::string count(std::int64_t n, const std::string& one) {
  return std::to_string(n) + " " + one + (n == 1 ? "" : "s");
}

// What a shape takes of its nodes: `full` nodes of `per_node` devices and, where `rest` > 0, one more of
// `rest`.
struct Even {
  explicit Even(const Shape& shape)
      : per_node(shape.per_node),
        full(shape.devices / shape.per_node),
        rest(shape.devices % shape.per_node) {}
  int per_node, full, rest;
};

// Adds up to `nodes` nodes that have `devices` free to `shares`, those with the fewest first.
void take_tightest(const FreeDevices& free, int devices, int nodes, Shares& shares) {
  const auto before = static_cast<std::ptrdiff_t>(shares.size());
  const int most = free.most();
  for (int with = devices; with <= most && nodes > 0; ++with)
    free.each_with(with, [&](std::size_t node) {
      const auto taken = shares.begin() + before;
      if (std::find_if(shares.begin(), taken, [&](const Share& s) { return s.node == node; }) != taken)
        return true;
      shares.push_back({node, devices});
      return --nodes > 0;
    });
}

Shares choose_even(const FreeDevices& free, const Even& even) {
  Shares shares;
  take_tightest(free, even.per_node, even.full, shares);
  if (even.rest > 0) take_tightest(free, even.rest, 1, shares);
  return shares;
}

Shares choose_packed(const FreeDevices& free, int devices) {
  Shares shares;
  take_tightest(free, devices, 1, shares);
  if (!shares.empty()) return shares;
  int left = devices;
  for (int with = free.most(); left > 0; --with)
    free.each_with(with, [&](std::size_t node) {
      shares.push_back({node, std::min(left, with)});
      left -= shares.back().devices;
      return left > 0;
    });
  return shares;
}

}  // namespace

bool fits(const FreeDevices& free, const Shape& shape) {
  if (shape.per_node == 0) return free.total() >= shape.devices;
  const Even even(shape);
  return free.nodes_with(even.per_node) >= even.full &&
         (even.rest == 0 || free.nodes_with(even.rest) >= even.full + 1);
}

std::optional<Shares> choose(const FreeDevices& free, const Shape& shape) {
  if (!fits(free, shape)) return std::nullopt;
  return shape.per_node > 0 ? choose_even(free, Even(shape)) : choose_packed(free, shape.devices);
}

Allocation allocate(const ClusterState& state, const std::string& kind, Shares shares, Taken& taken,
                    std::int64_t nth_attempt) {
  std::ranges::sort(shares, {},
                    [&](const Share& share) -> const NodeId& { return state.node_ids[share.node]; });
  Allocation allocation;
  allocation.nodes = static_cast<int>(shares.size());
  for (const Share& share : shares) {
    const NodeId& id = state.node_ids[share.node];
    const int node_rank = static_cast<int>(&share - shares.data());
    int skip = taken[share.node];
    int local = 0;
    for (const DeviceSlot& slot : state.nodes.at(id).devices) {
      if (local == share.devices) break;
      if (slot.holder || slot.device.kind != kind || !slot.device.health.empty() || skip-- > 0) continue;
      allocation.ranks.push_back(
          {id, slot.device.index, local++, share.devices, node_rank, slot.device.threads});
    }
    PODIUM_CHECK(local == share.devices, "a share takes free devices");
    taken[share.node] += share.devices;
  }
  allocation.master_address = state.nodes.at(allocation.ranks.front().node).description.address;
  allocation.master_port = kFirstPort + kPortsPerAttempt * static_cast<int>(nth_attempt % kPortSlots);
  return allocation;
}

Blocker shortage(const FreeDevices& free, const JobRequest& request) {
  Blocker blocker{.code = BlockerCode::devices};
  if (request.per_node > 0 && request.per_node < request.devices) {
    blocker.needs = (request.devices + request.per_node - 1) / request.per_node;
    blocker.has = free.nodes_with(request.per_node);
    blocker.per_node = request.per_node;
    blocker.sentence = "needs " + count(blocker.needs, "node") + " that are up with " +
                       count(request.per_node, "free " + request.kind + " device") + " each; " +
                       std::to_string(blocker.has) + (blocker.has == 1 ? " has" : " have") + " them";
    return blocker;
  }
  blocker.needs = request.devices;
  blocker.sentence = "needs " + count(request.devices, "free " + request.kind + " device");
  if (request.per_node > 0) {
    blocker.has = free.most();
    blocker.sentence += " on one node that is up; the most on one is " + std::to_string(blocker.has);
  } else {
    blocker.has = free.total();
    blocker.sentence += " on nodes that are up; " + std::to_string(blocker.has) +
                        (blocker.has == 1 ? " is free" : " are free");
  }
  return blocker;
}

std::optional<std::string> never_fits(const ClusterState& state, const JobRequest& request) {
  if (request.devices < 1) return "asks for " + count(request.devices, "device") + "; it needs at least 1";
  if (state.nodes.empty()) return std::nullopt;
  const auto pool = state.pools.find(request.kind);
  const FreeDevices capacity = pool == state.pools.end() ? FreeDevices{} : pool->second.capacity;
  if (fits(capacity, {request.devices, request.per_node})) return std::nullopt;
  const std::string asks = "asks for " + count(request.devices, request.kind + " device");
  const std::int64_t nodes = capacity.nodes_with(1);
  if (capacity.total() < request.devices)
    return asks + "; the cluster has " + std::to_string(capacity.total()) + " on " + count(nodes, "node");
  return asks + ", " + std::to_string(request.per_node) + " on each node; the cluster has " +
         count(nodes, "node") + " with " + request.kind + " devices, with at most " +
         std::to_string(capacity.most()) + " on one";
}

}  // namespace podium
