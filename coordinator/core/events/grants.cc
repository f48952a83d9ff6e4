#include "coordinator/core/events/grants.h"

#include <algorithm>
#include <set>

#include "common/base/check.h"
#include "coordinator/core/state/pools.h"

namespace podium {
namespace {

auto slot_of(Node& node, int device) {
  return std::ranges::find(node.devices, device, [](const DeviceSlot& s) { return s.device.index; });
}

// False where it was returned before.
bool return_device(Node& node, const Job& job, int device) {
  const auto slot = slot_of(node, device);
  if (slot == node.devices.end() || slot->holder != job.id) return false;
  slot->holder.reset();
  const auto& reported = node.description.devices;
  if (std::ranges::find(reported, device, &Device::index) == reported.end()) node.devices.erase(slot);
  return true;
}

// How many of the rank's devices had not been returned before.
int return_device(ClusterState& state, const Job& job, std::size_t rank) {
  const Placement& place = job.attempt->allocation.ranks[rank];
  Node& node = state.nodes.at(place.node);
  int returned = 0;
  place.each_device([&](int device) { returned += return_device(node, job, device); });
  return returned;
}

void change_devices(Usage& usage, int by, Duration half_life, Time at) {
  usage.device_seconds = used(usage, half_life, at);
  usage.devices += by;
  usage.at = at;
}

}  // namespace

void describe_node(Node& node, const NodeDescription& description) {
  std::vector<DeviceSlot> slots;
  for (const Device& device : description.devices) slots.push_back({device, std::nullopt});
  for (const DeviceSlot& old : node.devices) {
    if (!old.holder) continue;
    const auto same =
        std::ranges::find(slots, old.device.index, [](const DeviceSlot& s) { return s.device.index; });
    if (same != slots.end()) {
      same->holder = old.holder;
    } else {
      slots.push_back(old);
      slots.back().device.health = "its agent no longer reports it";
    }
  }
  std::ranges::sort(slots, {}, [](const DeviceSlot& slot) { return slot.device.index; });
  node.devices = std::move(slots);
  node.description = description;
}

void grant_devices(ClusterState& state, const Job& job, Time at) {
  std::set<NodeId> nodes;
  for (const Placement& place : job.attempt->allocation.ranks) {
    Node& node = state.nodes.at(place.node);
    place.each_device([&](int device) {
      const auto slot = slot_of(node, device);
      PODIUM_CHECK(slot != node.devices.end() && !slot->holder,
                   "a device is granted once: " + to_string(job.id));
      slot->holder = job.id;
    });
    ++node.orders_version;
    nodes.insert(place.node);
  }
  for (const NodeId& node : nodes) count_allocated(state, state.nodes.at(node));
  charge_account(state, job, job.devices(), at);
}

void return_devices(ClusterState& state, const Job& job, Time at) {
  std::set<NodeId> nodes;
  int returned = 0;
  for (std::size_t rank = 0; rank < job.attempt->tasks.size(); ++rank)
    if (const int more = job.attempt->tasks[rank].over() ? return_device(state, job, rank) : 0; more > 0) {
      returned += more;
      nodes.insert(job.attempt->allocation.ranks[rank].node);
    }
  for (const NodeId& node : nodes) count_allocated(state, state.nodes.at(node));
  if (returned > 0) charge_account(state, job, -returned, at);
}

void return_devices_of(ClusterState& state, const Job& job, std::size_t rank, Time at) {
  const int returned = return_device(state, job, rank);
  if (returned == 0) return;
  count_allocated(state, state.nodes.at(job.attempt->allocation.ranks[rank].node));
  charge_account(state, job, -returned, at);
}

void charge_account(ClusterState& state, const Job& job, int devices, Time at) {
  const Duration half_life = state.scheduling.half_life;
  for (const std::string& name : lineage(job.request.account))
    change_devices(state.accounts[name].usage[job.request.kind], devices, half_life, at);
  change_devices(state.accounts[job.request.account].own[job.request.kind], devices, half_life, at);
}

}  // namespace podium
