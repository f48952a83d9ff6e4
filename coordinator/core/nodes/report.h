// Turns a node's report, which has passed report_limits.h, into events. Fencing is here: a task counts only
// if it belongs to a current attempt and its node was given it. Every other live task is a stray: no order
// covers it, so its agent kills it.
#pragma once

#include "common/base/error.h"
#include "coordinator/core/events/events.h"

namespace podium {

Result<Events> take_report(const ClusterState& state, const NodeReport& report, Time now);

}  // namespace podium
