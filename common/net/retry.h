// How long to wait before trying again. Pure: the random number is an argument.
#pragma once

#include <chrono>

namespace podium {

struct RetryPolicy {
  std::chrono::milliseconds first{100};
  std::chrono::milliseconds longest{5000};
};

// The wait before attempt `failures` + 1, for `failures` >= 1: doubles from `first` up to `longest`, then is
// spread over its upper half by `jitter` in [0, 1), so that a cluster's agents do not come back in step.
std::chrono::milliseconds retry_delay(const RetryPolicy& policy, int failures, double jitter);

}  // namespace podium
