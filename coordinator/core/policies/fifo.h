// First come, first served: the oldest waiting job is next, and while it cannot start no job behind it does.
// The baseline for the other policies.
#pragma once

#include "coordinator/core/policies/policy.h"

namespace podium {

class Fifo final : public Policy {
 public:
  std::string_view name() const override { return "fifo"; }
  std::int64_t rank(const SchedulingOptions&, const Standing& job, Time) const override {
    return to_millis(job.submitted);
  }
  int reservations(const SchedulingOptions&) const override { return 0; }
  bool preempts(const SchedulingOptions&) const override { return false; }
  bool may_preempt(const SchedulingOptions&, const Standing&, const Standing&, Time) const override {
    return false;
  }
};

}  // namespace podium
