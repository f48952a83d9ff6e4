// A node's processor as devices: the threads this process may use, shared out evenly over a number of slots.
#pragma once

#include <string>
#include <string_view>

#include "agent/device/device_probe.h"

namespace podium {

class CpuSlots final : public DeviceProbe {
 public:
  // `threads` 0: as many as the agent itself may run on.
  explicit CpuSlots(int slots, int threads = 0) : slots_(slots), threads_(threads) {}
  Discovery discover() override;

 private:
  int slots_;
  int threads_;
};

// The processor's name in the text of /proc/cpuinfo; "CPU" where it gives none.
std::string cpu_model(std::string_view cpuinfo);

}  // namespace podium
