// Priority with ageing. An hour of waiting (SchedulingOptions::ageing) adds a point of priority. An hour of
// walltime takes away as much as an hour of waiting adds (SchedulingOptions::walltime_weight), up to
// walltime_points. Therefore the order of two waiting jobs never changes with time alone. Among jobs of one
// priority, the job goes first that would have ended first had every job started when it was submitted: short
// jobs need not wait for long ones, and a job is passed only by jobs that arrive within its own walltime, or
// within the time that walltime_points are worth. This is earliest deadline first with deadlines at equal
// stretch, as in Bender, Chakrabarti and Muthukrishnan (SODA 1998). Smaller jobs fill the gaps.
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
  // A job is not stopped for age alone, nor for priority where it would go first again.
  bool may_preempt(const SchedulingOptions& options, const Standing& waiting, const Standing& running,
                   Time now) const override {
    return running.priority < waiting.priority && rank(options, waiting, now) < rank(options, running, now);
  }
};

}  // namespace podium
