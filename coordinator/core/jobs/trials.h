// The trials of sweeps as jobs: what halving.h decides becomes events. A pause is a graceful stop, after
// which the job is queued and not in line; a promotion lets it start again from its checkpoint. When a sweep
// has decided, those that are paused end as `stopped`.
#pragma once

#include <string>

#include "common/base/error.h"
#include "coordinator/core/events/commands.h"
#include "coordinator/core/events/events.h"

namespace podium {

// A trial told its metric. The first word on each rung counts; what else comes is nothing new.
Result<Events> take_rung(const ClusterState& state, const RungTold& told, Time now);

// Adds what follows from `events` for the sweeps whose trials they are about; after a Tick, for all.
void settle_sweeps(const ClusterState& state, Events& events, Time now);

// Null where the job is no trial of a sweep that still decides.
const Halving* sweep_of(const ClusterState& state, const Job& job);

// "is paused: 7th of 9 at rung 2 (step 400) …; 3 trials have yet to tell there"
std::string why_paused(const ClusterState& state, const Job& job);

// The metric that is looked for in what a job tells, and from which step on, by rung. Empty: nothing.
struct RungWatch {
  std::string metric;
  std::map<int, std::int64_t> steps;
};
RungWatch rungs_to_watch(const ClusterState& state, JobId job);

}  // namespace podium
