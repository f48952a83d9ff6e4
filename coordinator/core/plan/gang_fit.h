// Where a job's gang fits into what a pass has left: on as many devices as the job may have, within its quota
// and limits, and so that no reservation is delayed.
#pragma once

#include <optional>

#include "coordinator/core/plan/remaining.h"

namespace podium {

class GangFit {
 public:
  GangFit(const ClusterState& state, const Remaining& remaining) : state_(state), remaining_(remaining) {}

  // For a job of `job_class` that starts in `around` now and ends at `end`. A job that failed soon after its
  // start goes elsewhere if it can at once: that shows whose fault it was. `quota_depth`: of the quotas whose
  // jobs are being looked at (QuotaWalk::depth).
  std::optional<NodeSlices> find(const DevicePool& around, const JobClass& job_class, const Job& job,
                                 Time end, int quota_depth) const;
  // For an elastic job: on the most devices that it may have, and more than are allocated to it.
  std::optional<NodeSlices> find_largest(const FreeDevices& free, const Job& job, Time end,
                                         int quota_depth) const;

 private:
  std::optional<NodeSlices> find_place(const FreeDevices& free, const Shape& shape, const Job& job,
                                       Time end) const;

  const ClusterState& state_;
  const Remaining& remaining_;
};

}  // namespace podium
