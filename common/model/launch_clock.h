// What a run that MLPerf's rules measure is told of time, by the coordinator's clock, which all its nodes and
// attempts share: the key "clock" of launch.json, and of an order.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/base/time.h"

namespace podium {

struct LaunchClock {
  std::optional<Duration> ahead;  // of this machine's boot clock; filled in by the agent
  std::int64_t steps = 0;         // how often it was set across a restart of the coordinator
  // Of an attempt that may find no log of those before: when the first that trained started, and the steps
  // till then.
  std::optional<Time> first_start;
  std::int64_t first_steps = 0;

  bool operator==(const LaunchClock&) const = default;
};

// Adds the key where there is something to say.
void add_clock(const LaunchClock& clock, nlohmann::json& object);
LaunchClock clock_in(const nlohmann::json& object);

}  // namespace podium
