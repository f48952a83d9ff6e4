// Time since the machine's start: runs on while it sleeps and never jumps, so that leases and grace periods
// are what they say. Its times mean nothing on another machine.
#pragma once

#include <time.h>

#include <string>

#include "common/base/time.h"

namespace podium {

// Names the time since the machine was started; no process survives a change of it. Throws std::system_error.
std::string boot_id();

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
