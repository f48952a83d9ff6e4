// Monitors the NVIDIA GPUs of a node while the agent runs: readings, health, processes that hold their
// memory, and XID errors. Keeps NVML open. Use it from one thread at a time; calls may block (see nvml.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/device/nvml.h"
#include "common/model/device_reading.h"

namespace podium {

// A process with a CUDA context on a device.
struct MemoryHolder {
  int pid = 0;
  std::string name;        // of its program; "" when not told
  std::int64_t bytes = 0;  // of device memory; 0: not told

  bool operator==(const MemoryHolder&) const = default;
};

struct GpuState {
  int index = 0;
  std::string health;  // "" when healthy, as Device::health
  DeviceReading reading;
  std::vector<MemoryHolder> holders;
};

class GpuMonitor {
 public:
  // Throws std::runtime_error where there is no driver.
  explicit GpuMonitor(const std::string& library);

  std::vector<GpuState> look();

  // Waits at most `longest` for an XID error and records it; false where there was none.
  bool wait_for_xid(std::chrono::milliseconds longest);

 private:
  struct Gpu {
    int index = 0;
    nvml::Handle handle = nullptr;
    std::string uuid;
    int xid_count = 0;
    int last_xid = 0;
    int critical_xid = 0;  // the newest
  };

  GpuState look_at(const Gpu& gpu) const;

  nvml::Nvml nvml_;
  std::vector<Gpu> gpus_;
  bool hears_xids_ = false;
};

}  // namespace podium
