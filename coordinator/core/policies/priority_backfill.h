// Priority with ageing: every hour of waiting (SchedulingOptions::ageing) weighs as much as a point of
// priority, so the order of two waiting jobs never changes with time alone. Smaller jobs fill the gaps they
// leave.
#pragma once

#include "coordinator/core/policy.h"

namespace podium {

class PriorityBackfill final : public Policy {
 public:
  std::string_view name() const override { return "priority-backfill"; }
  bool ages() const override { return true; }
  std::int64_t rank(const SchedulingOptions& options, const Job& job, Time) const override {
    return to_millis(job.submitted) - job.request.priority * options.ageing.count();
  }
  bool preempts(const SchedulingOptions& options) const override { return options.preempt; }
  // Nor does age alone stop a job, nor priority one that would go first again.
  bool may_preempt(const SchedulingOptions& options, const Job& waiting, const Job& running,
                   Time now) const override {
    return running.request.priority < waiting.request.priority &&
           rank(options, waiting, now) < rank(options, running, now);
  }
};

}  // namespace podium
