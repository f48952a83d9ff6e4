// The trials of sweeps as jobs: turns the decisions of halving.h into events. A pause is a graceful stop,
// after which the job is queued but not in line; a promotion lets it start again from its checkpoint. When a
// sweep has decided, its paused trials end as `stopped`.
#pragma once

#include <string>

#include "common/base/error.h"
#include "coordinator/core/events/commands.h"
#include "coordinator/core/events/events.h"

namespace podium {

// A trial reported its metric. Only its first report at a rung counts.
Result<Events> take_rung(const ClusterState& state, const RungTold& told, Time now);

// Adds the decisions of the sweeps whose trials `events` are about; after a Tick, of all sweeps.
void settle_sweeps(const ClusterState& state, Events& events, Time now);

// Null unless the job is a trial of a sweep that is still undecided.
const Halving* sweep_of(const ClusterState& state, const Job& job);

// Of a trial. "is paused by its sweep: 7th of 9 at rung 2 (step 400) …; 3 trials have yet to tell there"
std::string why_paused(const ClusterState& state, const Job& job);

// The metric to look for in a job's events and, by rung, the step from which it counts. Empty: none.
struct RungWatch {
  std::string metric;
  std::map<int, std::int64_t> steps;
};
RungWatch rungs_to_watch(const ClusterState& state, JobId job);

}  // namespace podium
