#include "common/model/node_preset.h"

#include <algorithm>
#include <array>

namespace podium {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// From NVIDIA's system guides, the network too: InfiniBand EDR, HDR or NDR. The V100s of a DGX-1 form one
// hybrid cube mesh: not every pair is joined directly, but all reach each other without leaving NVLink. The
// others are joined by NVSwitches.
constexpr std::array kPresets{NodePreset{"dgx-1v", "Tesla V100-SXM2-32GB", 8, 32 * kGiB, 8, 4, 100},
                              NodePreset{"dgx-2", "Tesla V100-SXM3-32GB", 16, 32 * kGiB, 16, 8, 100},
                              NodePreset{"dgx-2h", "Tesla V100-SXM3-32GB-H", 16, 32 * kGiB, 16, 8, 100},
                              NodePreset{"dgx-a100", "NVIDIA A100-SXM4-80GB", 8, 80 * kGiB, 8, 8, 200},
                              NodePreset{"dgx-h100", "NVIDIA H100 80GB HBM3", 8, 80 * kGiB, 8, 8, 400},
                              NodePreset{"dgx-h200", "NVIDIA H200", 8, 141 * kGiB, 8, 8, 400}};

}  // namespace

const NodePreset* find_node_preset(std::string_view name) {
  const auto found = std::ranges::find(kPresets, name, &NodePreset::name);
  return found == kPresets.end() ? nullptr : &*found;
}

std::vector<std::string> node_preset_names() {
  std::vector<std::string> names;
  for (const NodePreset& preset : kPresets) names.emplace_back(preset.name);
  return names;
}

void number_islands(const NodePreset& preset, std::vector<Device>& devices) {
  int gpus = 0;
  for (Device& device : devices)
    if (device.kind == "gpu") device.island = gpus++ / preset.island;
}

void add_labels(const NodePreset& preset, std::map<std::string, std::string>& labels) {
  labels.try_emplace("kind", preset.name);
  labels.try_emplace("rails", std::to_string(preset.rails));
  labels.try_emplace("rail_gbps", std::to_string(preset.rail_gbps));
}

NodeDescription artificial_node(const NodePreset& preset, NodeId id) {
  NodeDescription node;
  node.id = std::move(id);
  node.address = node.id.value;
  add_labels(preset, node.labels);
  for (int index = 0; index < preset.devices; ++index) {
    Device device;
    device.index = index;
    device.kind = "gpu";
    device.model = preset.model;
    device.memory_bytes = preset.memory_bytes;
    device.artificial = true;
    node.devices.push_back(std::move(device));
  }
  number_islands(preset, node.devices);
  return node;
}

}  // namespace podium
