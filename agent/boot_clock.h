// The agent's clock: runs on while the machine sleeps and never jumps, so that leases and grace periods are
// what they say. It counts from the machine's start; nothing that leaves the agent carries its times.
#pragma once

#include <time.h>

#include "common/base/time.h"

namespace podium {

class BootClock final : public Clock {
 public:
  Time now() const override {
    timespec time{};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    return Time{std::chrono::duration_cast<Duration>(std::chrono::seconds(time.tv_sec) +
                                                     std::chrono::nanoseconds(time.tv_nsec))};
  }
};

}  // namespace podium
