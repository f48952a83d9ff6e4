// A node's processor as devices: a number of slots with some threads each.
#pragma once

#include <string>
#include <string_view>

#include "agent/device/device_probe.h"

namespace podium {

class CpuSlots final : public DeviceProbe {
 public:
  // `threads_per_slot` 0: the threads that the agent may run on, divided evenly.
  explicit CpuSlots(int slots, int threads_per_slot = 0)
      : slots_(slots), threads_per_slot_(threads_per_slot) {}
  Discovery discover() override;

 private:
  int slots_;
  int threads_per_slot_;
};

// The processor's name in the text of /proc/cpuinfo; "CPU" where it gives none.
std::string cpu_model(std::string_view cpuinfo);

}  // namespace podium
