// Time since the machine's start. It runs while the machine sleeps and never jumps, so leases and grace
// periods have their true length. Its times are meaningless on another machine.
#pragma once

#include <time.h>

#include <string>

#include "common/base/time.h"

namespace podium {

// An id of the machine's current boot; no process survives a change of it. Throws std::system_error.
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
