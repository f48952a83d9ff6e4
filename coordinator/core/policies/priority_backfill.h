// Priority with ageing: every hour of waiting (SchedulingOptions::ageing) weighs as much as a point of
// priority, and every hour of walltime that a job asks for as much as an hour less of waiting
// (SchedulingOptions::walltime_weight), but never more than so many points (walltime_points): no walltime
// outweighs a higher priority by more. So the order of two waiting jobs never changes with time alone, and
// among jobs of one priority that goes first which would have been over first had it started at once: short
// jobs need not wait for long ones, and a job can be passed for no longer than it asks to run itself, or than
// the points at most are worth. That is the earliest deadline first, with deadlines at equal stretch, as in
// Bender, Chakrabarti and Muthukrishnan (SODA 1998). Smaller jobs fill the gaps they leave.
#pragma once

#include "coordinator/core/policies/policy.h"

namespace podium {

class PriorityBackfill final : public Policy {
 public:
  std::string_view name() const override { return "priority-backfill"; }
  bool ages() const override { return true; }
  std::int64_t rank(const SchedulingOptions& options, const Standing& job, Time) const override {
    return to_millis(job.submitted) - job.priority * options.ageing.count() +
           weight_of_walltime(options, job.walltime).count();
  }
  bool preempts(const SchedulingOptions& options) const override { return options.preempt; }
  // Nor does age alone stop a job, nor priority one that would go first again.
  bool may_preempt(const SchedulingOptions& options, const Standing& waiting, const Standing& running,
                   Time now) const override {
    return running.priority < waiting.priority && rank(options, waiting, now) < rank(options, running, now);
  }
};

}  // namespace podium
