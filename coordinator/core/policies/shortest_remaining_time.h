// Shortest remaining time, by the walltime a job asks for less what it has run. A running job gives way only
// to one with less than half of what it still needs, so that two of a length do not take turns.
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
