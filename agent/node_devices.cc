#include "agent/node_devices.h"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace podium {
namespace {

constexpr double kGiB = 1 << 30;

bool is_gpu(const std::string& kind) { return kind == "gpu"; }

std::string describe(const MemoryHolder& holder) {
  std::string text = fmt::format("process {}", holder.pid);
  if (!holder.name.empty()) text += fmt::format(" ({})", holder.name);
  text += " holds ";
  text += holder.bytes > 0 ? fmt::format("{:.1f} GiB", static_cast<double>(holder.bytes) / kGiB) : "some";
  return text + " of its memory and belongs to no task here: end it";
}

}  // namespace

NodeDevices::NodeDevices(std::vector<Device> devices) : devices_(std::move(devices)) {}

void NodeDevices::set_watch(std::function<std::uint64_t()> request_look) {
  request_look_ = std::move(request_look);
  for (const Device& device : devices_) left(device.kind, device.index);
}

std::vector<Device> NodeDevices::reported() const {
  std::vector<Device> devices = devices_;
  for (Device& device : devices)
    if (device.health.empty()) device.health = node_health_;
  return devices;
}

bool NodeDevices::set_node_health(const std::string& reason) {
  if (reason == node_health_) return false;
  spdlog::log(reason.empty() ? spdlog::level::info : spdlog::level::err, "this node {}",
              reason.empty() ? "takes tasks again" : "takes no tasks: " + reason);
  node_health_ = reason;
  return true;
}

const Device* NodeDevices::find(const std::string& kind, int index) const {
  const auto found = std::ranges::find_if(
      devices_, [&](const Device& device) { return device.kind == kind && device.index == index; });
  return found == devices_.end() ? nullptr : &*found;
}

void NodeDevices::left(const std::string& kind, int index) {
  const Device* device = find(kind, index);
  if (!request_look_ || !is_gpu(kind) || !device || device->artificial) return;
  left_[index] = request_look_();
}

std::set<int> NodeDevices::occupied() const {
  std::set<int> gpus;
  for (const auto& [index, request] : left_) gpus.insert(index);
  for (const auto& [index, pids] : held_by_)
    if (!pids.empty()) gpus.insert(index);
  return gpus;
}

// An ending process holds memory for a moment, so only a process that is seen in two looks in a row is
// reported.
std::string NodeDevices::judge_holders(int index, const std::vector<MemoryHolder>& holders) {
  std::set<int> now;
  std::string health;
  std::set<int>& before = held_by_[index];
  for (const MemoryHolder& holder : holders) {
    now.insert(holder.pid);
    if (before.contains(holder.pid)) health = describe(holder);
  }
  if (now != before && !now.empty()) request_look_();
  before = std::move(now);
  return health;
}

bool NodeDevices::take(const GpuLook& look, const std::set<int>& in_use) {
  bool changed = false;
  readings_.clear();
  for (const GpuState& gpu : look.gpus) {
    readings_.push_back(gpu.reading);
    const auto device = std::ranges::find_if(
        devices_, [&](const Device& d) { return is_gpu(d.kind) && d.index == gpu.index; });
    if (device == devices_.end()) continue;
    const bool used = in_use.contains(gpu.index);
    const std::string held = judge_holders(gpu.index, used ? std::vector<MemoryHolder>{} : gpu.holders);
    const std::string health = gpu.health.empty() ? held : gpu.health;
    const auto left = left_.find(gpu.index);
    if (left != left_.end() && left->second <= look.request) left_.erase(left);  // held_by_ goes on from here
    if (device->health == health) continue;
    spdlog::log(health.empty() ? spdlog::level::info : spdlog::level::err, "GPU {}: {}", gpu.index,
                health.empty() ? "healthy again" : health);
    device->health = health;
    changed = true;
  }
  return changed;
}

}  // namespace podium
