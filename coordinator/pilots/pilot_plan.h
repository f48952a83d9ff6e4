// Decides which allocations are asked of Slurm and which are given back, and what becomes of their nodes.
// Pure, and level-triggered: Slurm's own list of this cluster's jobs is the only record of them, so that it
// goes on from any state, also after a kill -9 between a request and its answer, for which the memory is
// empty.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordinator/core/events/commands.h"
#include "coordinator/pilots/pilot_stand.h"
#include "coordinator/pilots/slurm_commands.h"

namespace podium {

// No allocation is asked for a job until then, because Slurm refused one or its agents did not come.
struct AskingPause {
  std::string why;
  Time until;
  int times = 0;  // in a row
};

struct PilotMemory {
  std::map<std::int64_t, Time> idle_since;    // allocations of which no node is in use
  std::map<std::int64_t, Time> coming_since;  // running allocations without all their nodes
  std::set<std::int64_t> awaited;             // whose nodes have not all joined
  std::set<std::int64_t> given_back;
  std::map<JobId, AskingPause> pauses;
};

struct GiveBack {
  std::int64_t allocation = 0;
  std::string why;

  bool operator==(const GiveBack&) const = default;
};

struct PilotSteps {
  std::vector<Command> commands;    // of the core, first
  std::vector<GiveBack> give_back;  // then these, where no node of theirs is in use
  std::vector<Ask> ask;             // and these, until one is refused
};

// `jobs`: all that Slurm knows of this cluster's, from a look that began after every earlier request had
// ended.
PilotSteps plan_pilots(const SlurmOptions& options, const PilotStand& stand,
                       const std::vector<SlurmJob>& jobs, PilotMemory& memory, Time now);

// Notes that asking for the job failed; the pauses become longer.
void pause_asking(PilotMemory& memory, JobId job, std::string why, Time now);

// How long a running allocation may take until its agents have joined.
inline constexpr Duration kJoinWithin = std::chrono::minutes(5);

}  // namespace podium
