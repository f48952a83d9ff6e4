// Reasons for jobs that would fit but wait, or that are not tried yet.
#pragma once

#include "coordinator/core/plan/reservations.h"

namespace podium {

// The job failed several times soon after its start and waits until then.
Blocker backs_off(Time until);

// Nothing where the job's attempt does not wait for older ones to be over.
std::optional<Blocker> behind_fence(const Job& job, const Limits& limits, Time now);

// The job would fit from now to `end` without the reservations and the windows of nodes.
Blocker would_delay(const ClusterState& state, const Reservations& reservations, const Job& job, Time now,
                    Time end);

}  // namespace podium
