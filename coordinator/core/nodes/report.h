// What a node's report, which report_limits.h has let through, means. Fencing is here: only the current
// attempt's tasks count, on the node they were given to; every other live task is a stray, which its orders
// lack and its agent therefore kills.
#pragma once

#include "common/base/error.h"
#include "coordinator/core/events/events.h"

namespace podium {

Result<Events> take_report(const ClusterState& state, const NodeReport& report, Time now);

}  // namespace podium
