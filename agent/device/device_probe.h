// Finds the devices of a node. Each kind of device has a probe; `find_devices` joins their results and
// numbers the devices, GPUs first, so that a GPU's index on its node is NVML's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/model/node.h"

namespace podium {

struct Discovery {
  std::vector<Device> devices;
  std::vector<std::string> notes;  // for the log: what was found, or why nothing was
};

class DeviceProbe {
 public:
  virtual ~DeviceProbe() = default;
  virtual Discovery discover() = 0;
};

using DeviceProbes = std::vector<std::unique_ptr<DeviceProbe>>;

// Asks the probes in order; their notes are joined.
Discovery find_devices(const DeviceProbes& probes);

}  // namespace podium
