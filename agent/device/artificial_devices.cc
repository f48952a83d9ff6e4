#include "agent/device/artificial_devices.h"

#include <spdlog/fmt/fmt.h>

namespace podium {

Discovery ArtificialDevices::discover() {
  Discovery found;
  if (count_ == 0) return found;
  for (int i = 0; i < count_; ++i) {
    Device device;
    device.kind = "gpu";
    device.model = "artificial GPU";
    device.uuid = fmt::format("artificial-{}", i);
    device.artificial = true;
    found.devices.push_back(std::move(device));
  }
  found.notes.push_back(fmt::format("{} artificial GPU(s), made up by --artificial-gpus", count_));
  return found;
}

}  // namespace podium
