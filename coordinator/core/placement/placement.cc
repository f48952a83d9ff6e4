#include "coordinator/core/placement/placement.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "common/base/check.h"
#include "coordinator/core/state/pools.h"
#include "coordinator/core/state/words.h"

namespace podium {
namespace {

constexpr int kFirstPort = 20000;  // below Linux's range for outgoing connections, which begins at 32768
constexpr int kPortsPerAttempt = 3;
constexpr int kPortSlots = 4000;

// The free devices of one island of a node, by index.
struct Island {
  int number = -1;
  std::vector<const DeviceSlot*> free;
};

std::vector<Island> islands_of(const Node& node, const std::string& kind, const std::set<int>& taken) {
  std::vector<Island> islands;
  for (const DeviceSlot& slot : node.devices) {
    if (slot.holder || slot.device.kind != kind || !slot.device.health.empty()) continue;
    if (taken.contains(slot.device.index)) continue;
    auto island = std::ranges::find(islands, slot.device.island, &Island::number);
    if (island == islands.end()) island = islands.insert(island, {slot.device.island, {}});
    island->free.push_back(&slot);
  }
  std::ranges::sort(islands, {}, &Island::number);
  return islands;
}

// The next island to use: the tightest that holds all of `left`, else the one with the most devices in whole
// groups of `unit`; nullptr where none holds a group.
Island* next_island(std::vector<Island>& islands, int left, int unit) {
  const auto usable = [unit](const Island& island) {
    const int free = static_cast<int>(island.free.size());
    return free - free % unit;
  };
  Island* best = nullptr;
  for (Island& island : islands) {
    const bool whole = usable(island) >= left;
    const bool best_whole = best && usable(*best) >= left;
    const bool better = whole != best_whole ? whole
                        : !best             ? true
                        : whole             ? island.free.size() < best->free.size()
                                            : usable(island) > usable(*best);
    if (usable(island) > 0 && better) best = &island;
  }
  return best;
}

// Moves to the front the devices from which `count` are taken: those of the NUMA node that holds them most
// tightly, else of the one with the most.
void order_by_numa(std::vector<const DeviceSlot*>& free, int count) {
  std::map<int, int> sizes;
  for (const DeviceSlot* slot : free) ++sizes[slot->device.numa];
  std::ranges::sort(free, {}, [&](const DeviceSlot* slot) {
    const int size = sizes.at(slot->device.numa);
    const bool holds = size >= count;
    return std::tuple(!holds, holds ? size : -size, slot->device.numa, slot->device.index);
  });
}

// `count` free devices of a node, by island, with tensor groups together where possible.
std::vector<const DeviceSlot*> pick_devices(const Node& node, const JobRequest& request, int count,
                                            const std::set<int>& taken) {
  std::vector<Island> islands = islands_of(node, request.kind, taken);
  std::vector<const DeviceSlot*> picked;
  int unit = count % request.tensor == 0 ? request.tensor : 1;
  while (static_cast<int>(picked.size()) < count) {
    const int left = count - static_cast<int>(picked.size());
    Island* island = next_island(islands, left, unit);
    PODIUM_CHECK(island || unit > 1, "a slice takes free devices");
    if (!island) {  // the rest of the node's devices are scattered
      unit = 1;
      continue;
    }
    const int free = static_cast<int>(island->free.size());
    const int taking = std::min(left, free - free % unit);
    order_by_numa(island->free, taking);
    picked.insert(picked.end(), island->free.begin(), island->free.begin() + taking);
    island->free.erase(island->free.begin(), island->free.begin() + taking);
  }
  return picked;
}

// The devices of another node with the same indexes as `first`, so that ranks that differ only by node use
// one rail; nothing where they are not all free.
std::vector<const DeviceSlot*> pick_same(const Node& node, const std::vector<const DeviceSlot*>& first,
                                         const std::set<int>& taken) {
  std::vector<const DeviceSlot*> picked;
  for (const DeviceSlot* like : first)
    for (const DeviceSlot& slot : node.devices)
      if (slot.device.index == like->device.index && slot.device.kind == like->device.kind &&
          slot.device.island == like->device.island && slot.device.health.empty() && !slot.holder &&
          !taken.contains(slot.device.index))
        picked.push_back(&slot);
  if (picked.size() < first.size()) picked.clear();
  return picked;
}

// Sorts nodes so that neighbours in the network are neighbours here.
std::tuple<std::string, std::string, NodeId> rank_order(const ClusterState& state, const NodeSlice& slice) {
  const NodeId& id = state.indexes.node_ids[slice.node];
  const Labels labels = labels_of(state.nodes.at(id));
  const auto label = [&](const char* key) {
    const auto found = labels.find(key);
    return found == labels.end() ? std::string() : found->second;
  };
  return {label("spine"), label("switch"), id};
}

// Two clusters on the same nodes do not know each other's ports, so each begins at another place.
std::int64_t first_slot(const ClusterName& cluster) {
  return static_cast<std::int64_t>(std::hash<std::string>{}(cluster.id) % kPortSlots);
}

// A port of no attempt whose rank 0 is on the node, and not in `granted`, to which it is added.
int free_port(const ClusterState& state, const NodeId& master, std::set<int>& granted, std::int64_t first) {
  std::set<int> used = granted;
  for (const JobId holder : holders_of(state.nodes.at(master))) {
    const Allocation& other = state.jobs.at(holder).attempt->allocation;
    if (other.ranks.front().node == master) used.insert(other.master_port);
  }
  const auto port = [first](int slot) {
    return kFirstPort + kPortsPerAttempt * static_cast<int>((first + slot) % kPortSlots);
  };
  int slot = 0;
  while (slot + 1 < kPortSlots && used.contains(port(slot))) ++slot;
  granted.insert(port(slot));
  return port(slot);
}

}  // namespace

namespace {

DevicePool without(const ClusterState& state, DevicePool pool, const std::vector<NodeId>& nodes) {
  for (const NodeId& id : nodes) {
    const Node* node = find_node(state, id);
    if (!node) continue;
    pool.free.set(node->ordinal, 0);
    pool.capacity.set(node->ordinal, 0);
  }
  return pool;
}

}  // namespace

bool fits_without(const ClusterState& state, const JobRequest& request, const std::vector<NodeId>& nodes) {
  const auto pool = state.indexes.pools.find({request.kind, request.nodes});
  return pool != state.indexes.pools.end() &&
         fits(without(state, pool->second, nodes).capacity, shape_of(request));
}

DevicePool without_avoided(const ClusterState& state, const DevicePool& pool, const Job& job) {
  const DevicePool others = without(state, pool, job.avoid);
  return fits(others.capacity, shape_of(job.request)) ? others : pool;
}

DevicePool without_free(const ClusterState& state, DevicePool pool, const std::vector<NodeId>& nodes) {
  for (const NodeId& id : nodes)
    if (const Node* node = find_node(state, id)) pool.free.set(node->ordinal, 0);
  return pool;
}

DevicePool without_suspects(const ClusterState& state, const DevicePool& pool, const Job& job) {
  std::vector<NodeId> suspects;
  std::ranges::copy_if(state.indexes.suspects, std::back_inserter(suspects),
                       [&](const NodeId& id) { return state.nodes.at(id).suspicions.contains(job.id); });
  return without_free(state, pool, suspects);
}

Allocation allocate(const ClusterState& state, const JobRequest& request, const NodeSlices& slices,
                    Granted& granted, std::int64_t nth_attempt) {
  std::vector<std::pair<std::tuple<std::string, std::string, NodeId>, NodeSlice>> ordered;
  for (const NodeSlice& slice : slices) ordered.emplace_back(rank_order(state, slice), slice);
  std::ranges::sort(
      ordered, {}, [](const auto& entry) -> const auto& { return entry.first; });
  Allocation allocation;
  allocation.nodes = static_cast<int>(slices.size());
  int node_rank = 0;
  std::vector<const DeviceSlot*> picked;
  for (const auto& [order, slice] : ordered) {
    const NodeId& id = state.indexes.node_ids[slice.node];
    const Node& node = state.nodes.at(id);
    std::set<int>& gone = granted.devices[slice.node];
    const bool as_before = std::ssize(picked) == slice.devices && rails_of(labels_of(node)) > 1;
    picked = as_before ? pick_same(node, picked, gone) : std::vector<const DeviceSlot*>{};
    if (picked.empty()) picked = pick_devices(node, request, slice.devices, gone);
    int local = 0;
    for (const DeviceSlot* slot : picked) {
      if (request.process_per_node && local > 0)
        allocation.ranks.back().more_devices.push_back(slot->device.index);
      else
        allocation.ranks.push_back({id, slot->device.index, local,
                                    request.process_per_node ? 1 : slice.devices, node_rank,
                                    slot->device.threads});
      ++local;
      gone.insert(slot->device.index);
    }
    ++node_rank;
  }
  const NodeId& master = allocation.ranks.front().node;
  allocation.master_address = state.nodes.at(master).description.address;
  allocation.master_port =
      free_port(state, master, granted.ports[master], first_slot(state.cluster) + nth_attempt);
  return allocation;
}

namespace {

// "partition=nlp, rack=r3"
std::string listed(const Labels& labels) {
  std::string text;
  for (const auto& [key, value] : labels) text += (text.empty() ? "" : ", ") + key + "=" + value;
  return text;
}

// The text after "node" or "nodes": " with partition=nlp".
std::string with_labels(const JobRequest& request) {
  return request.nodes.empty() ? "" : " with " + listed(request.nodes);
}

std::string under_one(Within within) {
  switch (within) {
    case Within::leaf_switch:
      return " under one switch";
    case Within::spine:
      return " under one spine";
    case Within::node:
    case Within::anywhere:
      break;
  }
  return "";
}

// The most under one switch or spine: nodes with that many devices or, for 0, devices.
std::int64_t most_under_one(const FreeDevices& free, Within within, int per_node) {
  std::vector<std::int64_t> sizes;
  for (std::size_t leaf = 1; leaf < free.leaves(); ++leaf) {
    const std::size_t group = within == Within::spine ? free.spine_of(leaf) : leaf;
    if (group == 0) continue;
    if (group >= sizes.size()) sizes.resize(group + 1);
    const NodeCounts counts = free.in_leaf(leaf);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const int devices = static_cast<int>(i) + 1;
      if (per_node == 0 || devices >= per_node) sizes[group] += counts[i] * (per_node > 0 ? 1 : devices);
    }
  }
  return sizes.empty() ? 0 : *std::ranges::max_element(sizes);
}

bool near(const JobRequest& request) {
  return request.within == Within::leaf_switch || request.within == Within::spine;
}

bool on_one_node(const JobRequest& request) {
  return request.within == Within::node || (request.per_node > 0 && request.per_node >= request.devices);
}

std::string number(std::int64_t n) { return n == 0 ? "none" : std::to_string(n); }

Blocker shortage_of_nodes(const FreeDevices& free, const JobRequest& request) {
  Blocker blocker{.code = BlockerCode::devices};
  blocker.needs = (request.devices + request.per_node - 1) / request.per_node;
  blocker.per_node = request.per_node;
  blocker.sentence = "needs " + count(blocker.needs, "node") + with_labels(request) + " that are up" +
                     under_one(request.within) + " with " +
                     count(request.per_node, "free " + request.kind + " device") + " each; ";
  if (near(request)) {
    blocker.has = most_under_one(free, request.within, request.per_node);
    blocker.sentence += "the most under one is " + std::to_string(blocker.has);
  } else {
    blocker.has = free.nodes_with(request.per_node);
    blocker.sentence += (blocker.has == 0 ? "no node" : count(blocker.has, "node")) +
                        (blocker.has > 1 ? " have" : " has") + " as many";
  }
  return blocker;
}

}  // namespace

Blocker shortage(const FreeDevices& free, const JobRequest& request) {
  if (request.per_node > 0 && !on_one_node(request)) return shortage_of_nodes(free, request);
  Blocker blocker{.code = BlockerCode::devices, .needs = request.devices};
  blocker.sentence = "needs " + count(request.devices, "free " + request.kind + " device");
  if (on_one_node(request)) {
    blocker.has = free.most();
    blocker.sentence += " on one node" + with_labels(request) + " that is up; the most on one is " +
                        std::to_string(blocker.has);
  } else if (near(request)) {
    blocker.has = most_under_one(free, request.within, 0);
    blocker.sentence += " on nodes" + with_labels(request) + under_one(request.within) +
                        " that are up; the most under one is " + std::to_string(blocker.has);
  } else {
    blocker.has = free.total();
    blocker.sentence += " on nodes" + with_labels(request) + " that are up; " + number(blocker.has) +
                        (blocker.has > 1 ? " are free" : " is free");
  }
  return blocker;
}

int nodes_on_demand(const SchedulingOptions& scheduling, const JobRequest& request) {
  if (!scheduling.on_demand) return 0;
  const OnDemandNodes& offered = *scheduling.on_demand;
  const bool labelled = std::ranges::all_of(request.nodes, [&](const auto& wanted) {
    const auto own = offered.labels.find(wanted.first);
    return own != offered.labels.end() && own->second == wanted.second;
  });
  if (request.kind != offered.kind || !labelled || request.walltime > offered.walltime) return 0;
  const int on_each = request.per_node > 0 ? request.per_node : offered.devices;
  const int nodes = (request.devices + on_each - 1) / on_each;
  if (nodes > offered.nodes) return 0;
  FreeDevices free;
  for (int node = 0; node < nodes; ++node) free.set(static_cast<std::size_t>(node), offered.devices);
  return fits(free, shape_of(request)) ? nodes : 0;
}

std::optional<std::string> never_fits(const ClusterState& state, const JobRequest& request) {
  if (request.devices < 1) return "asks for " + count(request.devices, "device") + "; it needs at least 1";
  if (state.nodes.empty() || nodes_on_demand(state.scheduling, request) > 0) return std::nullopt;
  const Shape shape = shape_of(request);
  const auto pool = state.indexes.pools.find({request.kind, request.nodes});
  if (pool != state.indexes.pools.end() && fits(pool->second.capacity, shape)) return std::nullopt;
  const FreeDevices capacity =
      pool != state.indexes.pools.end() ? pool->second.capacity : count_capacity(state, request);
  if (fits(capacity, shape)) return std::nullopt;
  const std::int64_t nodes = capacity.nodes_with(1);
  if (nodes == 0 && !request.nodes.empty())
    return "asks for nodes with " + listed(request.nodes) + "; no node with " + request.kind +
           " devices has " + (request.nodes.size() == 1 ? "it" : "them");
  const std::string asks = "asks for " + count(request.devices, request.kind + " device");
  const std::string cluster = request.nodes.empty() ? "the cluster has " : "such nodes have ";
  const std::string on_nodes = request.nodes.empty() ? "" : " on nodes" + with_labels(request);
  if (capacity.total() < request.devices)
    return asks + on_nodes + "; " + cluster + std::to_string(capacity.total()) + " on " +
           count(nodes, "node");
  Shape anywhere = shape;
  anywhere.within = Within::anywhere;
  if (near(request) && fits(capacity, anywhere)) {
    const std::int64_t most = most_under_one(capacity, request.within, 0);
    return asks + on_nodes + under_one(request.within) +
           (most == 0 ? "; no node has the label \"" + std::string(to_string(request.within)) + "\""
                      : "; the most under one is " + std::to_string(most));
  }
  if (request.within == Within::node)
    return asks + " on one node" + with_labels(request) + "; the most on one is " +
           std::to_string(capacity.most());
  return asks + ", " + std::to_string(request.per_node) + " on each node" + with_labels(request) +
         "; the cluster has " + count(nodes, request.nodes.empty() ? "node" : "such node") + " with " +
         request.kind + " devices, with at most " + std::to_string(capacity.most()) + " on one";
}

}  // namespace podium
