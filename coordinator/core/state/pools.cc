#include "coordinator/core/state/pools.h"

#include <algorithm>

namespace podium {
namespace {

struct Tally {
  int free = 0;
  int capacity = 0;
};

// By device kind.
std::map<std::string_view, Tally> tally(const Node& node) {
  std::map<std::string_view, Tally> tallies;
  for (const DeviceSlot& slot : node.devices) {
    Tally& tally = tallies[slot.device.kind];
    ++tally.capacity;
    if (node.usable() && !slot.holder && slot.device.health.empty()) ++tally.free;
  }
  return tallies;
}

void enter(DevicePool& pool, const Node& node, const Tally& tally) {
  pool.capacity.set(node.ordinal, tally.capacity);
  pool.free.set(node.ordinal, tally.free);
}

void judge(ClusterState& state, const Node& node) {
  const auto healthy = [](const DeviceSlot& slot) { return slot.device.health.empty(); };
  if (node.usable() && std::ranges::all_of(node.devices, healthy))
    state.indexes.impaired.erase(node.ordinal);
  else
    state.indexes.impaired.insert(node.ordinal);
}

// The devices of a kind on the nodes with these labels.
DevicePool narrowed(const ClusterState& state, const std::string& kind, const Labels& labels) {
  DevicePool pool;
  const auto all = state.indexes.pools.find({kind, {}});
  if (all == state.indexes.pools.end()) return pool;
  for (const auto& [id, node] : state.nodes) {
    pool.capacity.place(node.ordinal, node.place);
    pool.free.place(node.ordinal, node.place);
    const Tally here{all->second.free.free(node.ordinal), all->second.capacity.free(node.ordinal)};
    if (here.capacity > 0 && matches(node, labels)) enter(pool, node, here);
  }
  return pool;
}

}  // namespace

bool matches(const Node& node, const Labels& wanted) {
  for (const auto& [key, value] : wanted) {
    const auto given = node.operator_labels.find(key);
    if (given != node.operator_labels.end()) {
      if (given->second != value) return false;
      continue;
    }
    const auto own = node.description.labels.find(key);
    if (own == node.description.labels.end() || own->second != value) return false;
  }
  return true;
}

void count_node(ClusterState& state, const Node& node) {
  ++state.epoch;
  judge(state, node);
  const auto tallies = tally(node);
  for (const auto& [kind, tally] : tallies) state.indexes.pools[{std::string(kind), {}}];
  for (auto& [key, pool] : state.indexes.pools) {
    pool.capacity.place(node.ordinal, node.place);
    pool.free.place(node.ordinal, node.place);
    const auto here = tallies.find(key.kind);
    enter(pool, node, here != tallies.end() && matches(node, key.nodes) ? here->second : Tally{});
  }
}

void count_allocated(ClusterState& state, const Node& node) {
  ++state.epoch;
  judge(state, node);
  const auto tallies = tally(node);
  for (auto& [key, pool] : state.indexes.pools) {
    if (pool.capacity.free(node.ordinal) == 0) continue;
    const auto here = tallies.find(key.kind);
    enter(pool, node, here == tallies.end() ? Tally{} : here->second);
  }
}

void join_pool(ClusterState& state, const JobRequest& request) {
  if (request.nodes.empty()) return;
  const PoolKey key{request.kind, request.nodes};
  auto pool = state.indexes.pools.find(key);
  if (pool == state.indexes.pools.end())
    pool = state.indexes.pools.emplace(key, narrowed(state, key.kind, key.nodes)).first;
  ++pool->second.users;
}

void leave_pool(ClusterState& state, const JobRequest& request) {
  if (request.nodes.empty()) return;
  const auto pool = state.indexes.pools.find({request.kind, request.nodes});
  if (--pool->second.users == 0) state.indexes.pools.erase(pool);
}

FreeDevices count_capacity(const ClusterState& state, const JobRequest& request) {
  return narrowed(state, request.kind, request.nodes).capacity;
}

}  // namespace podium
