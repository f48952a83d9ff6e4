// Decides what becomes of the replicas of services: a new spec takes the place of the one before replica by
// replica, the load decides how many there are, and one that no longer answers is started again. Pure, and
// level-triggered: it goes on from any state, also after a restart of the coordinator, for which the memory
// is empty. docs/serving.md ("As a job") has the rules.
#pragma once

#include <vector>

#include "common/base/error.h"
#include "coordinator/core/events/commands.h"
#include "coordinator/serving/service_memory.h"

namespace podium {

// What to do now. Takes note of what it sees.
std::vector<Command> steps(const ClusterState& state, const ReplicasHealth& health, ServiceMemory& memory,
                           const ServiceLimits& limits, Time now);

// The end of a service: all its jobs are cancelled.
std::vector<Command> stop_service(const ServiceStand& service);
// What hinders the end, of the answers to its commands: a job may have ended by itself meanwhile.
Errors hindrance(const std::vector<Errors>& answers);

}  // namespace podium
