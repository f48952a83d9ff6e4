#include "agent/device/device_probe.h"

namespace podium {

Discovery find_devices(const DeviceProbes& probes) {
  Discovery all;
  for (const auto& probe : probes) {
    Discovery found = probe->discover();
    for (Device& device : found.devices) {
      device.index = static_cast<int>(all.devices.size());
      all.devices.push_back(std::move(device));
    }
    all.notes.insert(all.notes.end(), found.notes.begin(), found.notes.end());
  }
  return all;
}

}  // namespace podium
