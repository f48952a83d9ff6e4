#include "coordinator/core/placement.h"

#include <algorithm>
#include <numeric>

#include "common/base/check.h"

namespace podium {
namespace {

constexpr int kFirstPort = 20000;  // below Linux's range for outgoing connections, which begins at 32768
constexpr int kPortsPerAttempt = 3;
constexpr int kPortSlots = 4000;

std::string count(std::int64_t n, const std::string& one) {
  return std::to_string(n) + " " + one + (n == 1 ? "" : "s");
}

int free_of(const NodeRoom& node) { return static_cast<int>(node.free.size()); }

// The node with the fewest free devices that still has `devices`, of those not yet taken.
std::optional<std::size_t> tightest(const Room& room, int devices, const std::vector<Share>& taken) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < room.size(); ++i) {
    if (free_of(room[i]) < devices || std::ranges::find(taken, i, &Share::node) != taken.end()) continue;
    if (!best || free_of(room[i]) < free_of(room[*best])) best = i;
  }
  return best;
}

std::optional<std::vector<Share>> choose_even(const Room& room, int devices, int per_node) {
  std::vector<Share> shares;
  for (int left = devices; left > 0;) {
    const int take = std::min(left, per_node);
    const auto node = tightest(room, take, shares);
    if (!node) return std::nullopt;
    shares.push_back({*node, take});
    left -= take;
  }
  return shares;
}

std::optional<std::vector<Share>> choose_packed(const Room& room, int devices) {
  if (const auto one = tightest(room, devices, {})) return std::vector<Share>{{*one, devices}};
  std::vector<std::size_t> order(room.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return free_of(room[i]); });
  std::vector<Share> shares;
  int left = devices;
  for (const std::size_t i : order) {
    const int take = std::min(left, free_of(room[i]));
    if (take == 0) break;
    shares.push_back({i, take});
    left -= take;
  }
  if (left > 0) return std::nullopt;
  return shares;
}

// The room as it would be were nothing running and every node up.
Room empty_room(const ClusterState& state, const std::string& kind) {
  Room room;
  for (const auto& [id, node] : state.nodes) {
    NodeRoom here{id, {}, 0};
    for (const Device& device : node.description.devices)
      if (device.kind == kind) here.free.push_back(device.index);
    here.capacity = free_of(here);
    if (here.capacity > 0) room.push_back(std::move(here));
  }
  return room;
}

}  // namespace

Room room_of(const ClusterState& state, const std::string& kind) {
  Room room;
  for (const auto& [id, node] : state.nodes) {
    NodeRoom here{id, {}, 0};
    for (const DeviceSlot& slot : node.devices) {
      if (slot.device.kind != kind) continue;
      ++here.capacity;
      if (node.usable() && !slot.holder && slot.device.health.empty()) here.free.push_back(slot.device.index);
    }
    if (here.capacity > 0) room.push_back(std::move(here));
  }
  return room;
}

std::optional<std::vector<Share>> choose(const Room& room, const JobRequest& request) {
  auto shares = request.per_node > 0 ? choose_even(room, request.devices, request.per_node)
                                     : choose_packed(room, request.devices);
  if (shares) std::ranges::sort(*shares, {}, &Share::node);
  return shares;
}

Allocation allocate(const ClusterState& state, Room& room, const std::vector<Share>& shares,
                    std::int64_t nth_attempt) {
  Allocation allocation;
  allocation.nodes = static_cast<int>(shares.size());
  for (const Share& share : shares) {
    NodeRoom& here = room[share.node];
    PODIUM_CHECK(share.devices <= free_of(here), "a share takes free devices");
    const Node& node = state.nodes.at(here.node);
    const int node_rank = static_cast<int>(&share - shares.data());
    for (int local = 0; local < share.devices; ++local) {
      const int device = here.free[static_cast<std::size_t>(local)];
      const auto slot =
          std::ranges::find(node.devices, device, [](const DeviceSlot& s) { return s.device.index; });
      allocation.ranks.push_back({here.node, device, local, share.devices, node_rank, slot->device.threads});
    }
    here.free.erase(here.free.begin(), here.free.begin() + share.devices);
  }
  allocation.master_address = state.nodes.at(allocation.ranks.front().node).description.address;
  allocation.master_port = kFirstPort + kPortsPerAttempt * static_cast<int>(nth_attempt % kPortSlots);
  return allocation;
}

std::string shortage(const Room& room, const JobRequest& request) {
  if (request.per_node > 0 && request.per_node < request.devices) {
    const int nodes = (request.devices + request.per_node - 1) / request.per_node;
    const auto fit =
        std::ranges::count_if(room, [&](const NodeRoom& n) { return free_of(n) >= request.per_node; });
    return "needs " + count(nodes, "node") + " that are up with " +
           count(request.per_node, "free " + request.kind + " device") + " each; " + std::to_string(fit) +
           (fit == 1 ? " has" : " have") + " them";
  }
  const auto most = [](int best, const NodeRoom& n) { return std::max(best, free_of(n)); };
  const auto sum = [](int total, const NodeRoom& n) { return total + free_of(n); };
  const std::string needs = "needs " + count(request.devices, "free " + request.kind + " device");
  if (request.per_node > 0) {
    const int free = std::accumulate(room.begin(), room.end(), 0, most);
    return needs + " on one node that is up; the most on one is " + std::to_string(free);
  }
  const int free = std::accumulate(room.begin(), room.end(), 0, sum);
  return needs + " on nodes that are up; " + std::to_string(free) + (free == 1 ? " is free" : " are free");
}

std::optional<std::string> never_fits(const ClusterState& state, const JobRequest& request) {
  if (request.devices < 1) return "asks for " + count(request.devices, "device") + "; it needs at least 1";
  if (state.nodes.empty()) return std::nullopt;
  const Room room = empty_room(state, request.kind);
  if (choose(room, request)) return std::nullopt;
  std::int64_t total = 0;
  int most = 0;
  for (const NodeRoom& node : room) {
    total += node.capacity;
    most = std::max(most, node.capacity);
  }
  const std::string asks = "asks for " + count(request.devices, request.kind + " device");
  if (total < request.devices)
    return asks + "; the cluster has " + std::to_string(total) + " on " + count(std::ssize(room), "node");
  return asks + ", " + std::to_string(request.per_node) + " on each node; the cluster has " +
         count(std::ssize(room), "node") + " with " + request.kind + " devices, with at most " +
         std::to_string(most) + " on one";
}

}  // namespace podium
