// How much is kept, and how long.
#pragma once

#include <chrono>
#include <cstdint>

#include "common/base/time.h"

namespace podium {

struct LogLimits {
  std::int64_t one = 64'000'000;                // bytes of one task's stdout or stderr
  std::int64_t all = 10'000'000'000;            // bytes of all logs
  Duration keep = std::chrono::hours(24 * 90);  // after a job's end
};

// Of what the database holds of a job, after its end.
struct Retention {
  Duration points = std::chrono::hours(24 * 90);    // all of a curve; later about kPointsKept points of it
  Duration history = std::chrono::hours(24 * 365);  // what happened, line by line
};

inline constexpr int kPointsKept = 2000;

}  // namespace podium
