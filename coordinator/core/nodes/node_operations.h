// What operators do to nodes: drain, resume, reserve for an account, label, adopt. Drains, reservations and
// labels stay when the node leaves and joins again.
#pragma once

#include "common/base/error.h"
#include "coordinator/core/events/commands.h"
#include "coordinator/core/events/events.h"

namespace podium {

Result<Events> drain_node(const ClusterState& state, const DrainNode& command, Time now);
Result<Events> resume_node(const ClusterState& state, const ResumeNode& command, Time now);
Result<Events> reserve_node(const ClusterState& state, const ReserveNode& command, Time now);
Result<Events> unreserve_node(const ClusterState& state, const UnreserveNode& command, Time now);
Result<Events> label_node(const ClusterState& state, const LabelNode& command, Time now);
Result<Events> adopt_node(const ClusterState& state, const AdoptNode& command, Time now);

// Ends maintenance windows and reservations whose time is over.
void end_windows(const ClusterState& state, Time now, Events& events);

}  // namespace podium
