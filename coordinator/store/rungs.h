// What a trial of a sweep tells at its rungs: the first value of the watched metric at or after the step of
// each. Whoever takes metrics asks this of each, be they a task's own or logged over MLflow's API.
#pragma once

#include <cstdint>
#include <vector>

#include "coordinator/core/events/commands.h"
#include "coordinator/core/jobs/trials.h"

namespace podium {

// Adds the rungs that a value of the metric reaches, and watches them no longer.
inline void look_at_rungs(RungWatch& watch, JobId job, std::int64_t step, double value,
                          std::vector<RungTold>& told) {
  std::erase_if(watch.steps, [&](const auto& rung) {
    if (step < rung.second) return false;
    told.push_back({job, rung.first, step, value});
    return true;
  });
}

}  // namespace podium
