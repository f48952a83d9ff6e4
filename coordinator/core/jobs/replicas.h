// The replicas of a service: jobs of one experiment, each of which serves the same model. Some of them are in
// line or run, the others are paused until their service needs them (coordinator/serving/services.h decides).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/error.h"
#include "coordinator/core/events/commands.h"
#include "coordinator/core/events/events.h"

namespace podium {

// A request for what is already so changes nothing.
Result<Events> pause_replica(const ClusterState& state, const PauseReplica& command, Time now);
Result<Events> promote_replica(const ClusterState& state, const PromoteReplica& command, Time now);

// Whether it serves, or will as soon as it can.
bool is_active_replica(const Job& job);

// The last experiment of which a replica of the service lives.
std::optional<ExperimentId> newest_experiment(const ClusterState& state, const std::string& service);

// Of the `index`th replica of a new experiment. "": it is in line at once.
std::string why_begins_paused(const ClusterState& state, const Replica& replica, std::int64_t index);

// "is paused by its service: 2 of its 4 replicas are enough for its load"
std::string why_replica_paused(const ClusterState& state, const Job& job);

}  // namespace podium
