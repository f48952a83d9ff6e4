// Which running jobs make room for a blocked one: those the policy lets go, the least deserving first and
// among them those that lose the least work, never one that is almost done, and no more than it takes.
#pragma once

#include <vector>

#include "coordinator/core/placement.h"
#include "coordinator/core/policy.h"

namespace podium {

// `pool` counts what those already leaving hold as free. Empty where stopping every candidate would not do.
std::vector<JobId> choose_victims(const ClusterState& state, const Policy& policy, DevicePool pool,
                                  const Job& blocked, Time now);

}  // namespace podium
