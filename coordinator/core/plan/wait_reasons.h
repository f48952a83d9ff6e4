// Why a plan leaves a job waiting that would fit, or that is not to be tried yet.
#pragma once

#include "coordinator/core/plan/reservations.h"

namespace podium {

// It failed several times soon after its start.
Blocker backs_off(Time until);

// It would fit from now to `end`, were it not for reservations and the windows of nodes.
Blocker would_delay(const ClusterState& state, const Reservations& reservations, const Job& job, Time now,
                    Time end);

}  // namespace podium
