// What `podium why` says of nodes on demand. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/core/state/blocker.h"
#include "coordinator/pilots/pilot_plan.h"

namespace podium {

// How things stood at the last look at Slurm.
struct PilotView {
  PilotStand stand;
  std::vector<SlurmJob> jobs;
  std::string silent;  // why Slurm does not answer; "": it does
};

// Nothing where the job waits for no nodes on demand.
std::optional<Blocker> why_no_nodes(const SlurmOptions& options, const PilotView& view,
                                    const PilotMemory& memory, JobId job, Time now);

}  // namespace podium
