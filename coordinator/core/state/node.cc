#include "coordinator/core/state/node.h"

#include <algorithm>

namespace podium {

Labels labels_of(const Node& node) {
  Labels labels = node.operator_labels;
  labels.insert(node.description.labels.begin(), node.description.labels.end());
  return labels;
}

int healthy_devices(const Node& node, const Placement& place) {
  int healthy = 0;
  place.each_device([&](int device) {
    const auto slot =
        std::ranges::find(node.devices, device, [](const DeviceSlot& s) { return s.device.index; });
    healthy += slot->device.health.empty();
  });
  return healthy;
}

std::vector<JobId> holders_of(const Node& node) {
  std::vector<JobId> jobs;
  for (const DeviceSlot& slot : node.devices)
    if (slot.holder) jobs.push_back(*slot.holder);
  std::ranges::sort(jobs);
  jobs.erase(std::ranges::unique(jobs).begin(), jobs.end());
  return jobs;
}

}  // namespace podium
