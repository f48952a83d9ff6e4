// NVIDIA GPUs as NVML lists them: model, memory, UUID, NUMA node, and how they reach each other.
#pragma once

#include <filesystem>
#include <string>

#include "agent/device/device_probe.h"

namespace podium {

inline constexpr char kNvmlLibrary[] = "libnvidia-ml.so.1";

class NvmlProbe final : public DeviceProbe {
 public:
  // `pci_devices`: the kernel's folder with the NUMA node of each device, for drivers that do not report it.
  explicit NvmlProbe(std::string library = kNvmlLibrary,
                     std::filesystem::path pci_devices = "/sys/bus/pci/devices")
      : library_(std::move(library)), pci_devices_(std::move(pci_devices)) {}
  // A GPU that does not answer is listed with the reason in its `health`, so that it is neither used nor
  // overlooked.
  Discovery discover() override;

 private:
  std::string library_;
  std::filesystem::path pci_devices_;
};

}  // namespace podium
