// NVIDIA GPUs as NVML lists them: model, memory, UUID, NUMA node, and how they reach each other.
#pragma once

#include <filesystem>
#include <string>

#include "agent/device/device_probe.h"

namespace podium {

inline constexpr char kNvmlLibrary[] = "libnvidia-ml.so.1";

class NvmlProbe final : public DeviceProbe {
 public:
  // `pci_devices`: where the kernel tells the NUMA node of what drivers too old to know it list.
  explicit NvmlProbe(std::string library = kNvmlLibrary,
                     std::filesystem::path pci_devices = "/sys/bus/pci/devices")
      : library_(std::move(library)), pci_devices_(std::move(pci_devices)) {}
  // A GPU that cannot be asked is listed with its `health` saying why, so that it is not used and not
  // overlooked.
  Discovery discover() override;

 private:
  std::string library_;
  std::filesystem::path pci_devices_;
};

}  // namespace podium
