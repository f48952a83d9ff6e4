// Least attained service in discrete levels, as Tiresias (Gu et al., NSDI 2019): a job begins at the top
// level and sinks when its device time passes a threshold. Higher levels go first and may preempt lower ones;
// within a level the older job goes first. Short jobs finish soon although no job's length is known.
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
