// Least attained service in discrete levels, as Tiresias (Gu et al., NSDI 2019): a job begins at the top and
// sinks as the device time it has had passes each threshold; higher levels go first and may take a running
// job's place, within a level the older goes first. Short jobs finish soon without anybody knowing how long
// jobs are.
#pragma once

#include "coordinator/core/policies/policy.h"

namespace podium {

class LeastAttainedService final : public Policy {
 public:
  std::string_view name() const override { return "least-attained-service"; }
  std::int64_t rank(const SchedulingOptions&, const Standing& job, Time now) const override {
    return level(job, now);
  }
  bool may_preempt(const SchedulingOptions&, const Standing& waiting, const Standing& running,
                   Time now) const override {
    return level(waiting, now) < level(running, now);
  }
  std::optional<Duration> interval() const override { return std::chrono::minutes(10); }

 private:
  static int level(const Standing& job, Time now);
};

}  // namespace podium
