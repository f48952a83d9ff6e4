// NVIDIA GPUs through NVML, the driver's own library, opened at run time: the agent builds and runs where
// there is none.
#pragma once

#include <string>

#include "agent/device/device_probe.h"

namespace podium {

class NvmlProbe final : public DeviceProbe {
 public:
  explicit NvmlProbe(std::string library = "libnvidia-ml.so.1") : library_(std::move(library)) {}
  // A GPU that cannot be asked is listed with its `health` saying why, so that it is not used and not
  // overlooked.
  Discovery discover() override;

 private:
  std::string library_;
};

}  // namespace podium
