// Which replicas of a service start again, because they do not answer or do not become ready. Pure.
#pragma once

#include <string>
#include <vector>

#include "coordinator/core/events/commands.h"
#include "coordinator/serving/service_memory.h"

namespace podium {

// Takes note of what it starts again. A replica whose node is silent as well is the core's matter.
std::vector<Command> restarts(const ClusterState& state, const ServiceStand& service, ServiceMemory& memory,
                              const ServiceLimits& limits, Time now);

Command restart(const ReplicaStand& replica, const std::string& why);

// "has not been ready for 3m and starts again after 5m"; "" of one that is ready or does not run.
std::string why_unready(const ReplicaStand& replica, const ServiceMemory& memory, const ServiceLimits& limits,
                        Time now);

}  // namespace podium
