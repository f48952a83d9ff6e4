// Artificial GPUs, to try schedules of a large cluster on a small one. They are marked as artificial wherever
// they appear.
#pragma once

#include "agent/device/device_probe.h"

namespace podium {

class ArtificialDevices final : public DeviceProbe {
 public:
  explicit ArtificialDevices(int count) : count_(count) {}
  Discovery discover() override;

 private:
  int count_;
};

}  // namespace podium
