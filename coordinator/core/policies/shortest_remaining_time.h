// Shortest remaining time: the walltime that a job asks for, less the time that it has run. A running job is
// preempted only by one that needs less than half of its remaining time, so that two jobs of equal length do
// not take turns.
#pragma once

#include "coordinator/core/policies/policy.h"

namespace podium {

class ShortestRemainingTime final : public Policy {
 public:
  std::string_view name() const override { return "shortest-remaining-time"; }
  std::int64_t rank(const SchedulingOptions&, const Standing& job, Time now) const override {
    return remaining(job, now).count();
  }
  bool may_preempt(const SchedulingOptions&, const Standing& waiting, const Standing& running,
                   Time now) const override {
    return 2 * remaining(waiting, now) < remaining(running, now);
  }

 private:
  static Duration remaining(const Standing& job, Time now);
};

}  // namespace podium
