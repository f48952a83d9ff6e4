// The clock of a run that MLPerf's rules measure: the coordinator's where the agent knows it, so that it goes
// on from attempt to attempt and from node to node; else the machine's as it stood when the process began.
// Setting a machine's clock does not move it.
#pragma once

#include <optional>

#include "common/base/time.h"

namespace podium {

class RunClock final : public Clock {
 public:
  // `ahead`: of `boot`, which never jumps and must outlive this (LaunchClock::ahead).
  RunClock(std::optional<Duration> ahead, const Clock& wall, const Clock& boot)
      : ahead_(ahead ? *ahead : wall.now() - boot.now()), boot_(boot) {}

  Time now() const override { return boot_.now() + ahead_; }

 private:
  const Duration ahead_;
  const Clock& boot_;
};

}  // namespace podium
