// How long a task that is told to leave may live: what its agent enforces, and when the coordinator counts it
// as lost. Both derive from here, so that no task is counted as lost that its agent still lets save. A grace
// period never outlasts the node's right to run tasks (common/model/lease.h); it does not enter the sums
// there.
#pragma once

#include "common/base/time.h"
#include "common/model/lease.h"
#include "common/model/program_spec.h"

namespace podium::stopping {

using namespace std::chrono_literals;

// From SIGUSR1 to podium-shim until the agent kills both.
inline constexpr Duration kShimKillsWithin = 5s;

// --stop-within: for a task that has the usual grace period. A longer or shorter one is added or taken away,
// so the node always has the same time for its part: to hear of the order, to kill, and to tell.
inline constexpr Duration kUsualWithin = 2min;
constexpr Duration ends_within(Duration stop_within, Duration grace) {
  return stop_within - kUsualGrace + grace;
}

constexpr bool adds_up(Duration stop_within, Duration grace) {
  return ends_within(stop_within, grace) >
         lease::kLongestRetry + grace + kShimKillsWithin + lease::kLongestRetry;
}
static_assert(adds_up(kUsualWithin, 1s) && adds_up(kUsualWithin, kUsualGrace) &&
              adds_up(kUsualWithin, kLongestGrace));

}  // namespace podium::stopping
