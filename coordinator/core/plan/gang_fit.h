// Where a job's gang fits into what a pass has left: on as many devices as the job may have, within its quota
// and limits, and without a delay of any reservation.
#pragma once

#include <optional>

#include "coordinator/core/plan/remaining.h"

namespace podium {

class GangFit {
 public:
  GangFit(const ClusterState& state, const Remaining& remaining) : state_(state), remaining_(remaining) {}

  // A place in `around` for a job of `job_class` that starts now and ends at `end`. A job that failed soon
  // after its start goes to other nodes if they have room now, which shows whether the node or the job was to
  // blame. `quota_depth`: QuotaWalk::depth.
  std::optional<NodeSlices> find(const DevicePool& around, const JobClass& job_class, const Job& job,
                                 Time end, int quota_depth) const;
  // For an elastic job: a place with the most devices that it may have, which are more than it has now.
  std::optional<NodeSlices> find_largest(const FreeDevices& free, const Job& job, Time end,
                                         int quota_depth) const;

 private:
  std::optional<NodeSlices> find_place(const FreeDevices& free, const Shape& shape, const Job& job,
                                       Time end) const;

  const ClusterState& state_;
  const Remaining& remaining_;
};

}  // namespace podium
