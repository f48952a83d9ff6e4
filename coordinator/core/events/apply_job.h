// The parts of `apply` that concern a single job or sweep, so that `handle` can look ahead on a copy of it.
#pragma once

#include "coordinator/core/events/events.h"

namespace podium {

void apply_to_job(Job& job, const Event& event);
void apply_to_sweep(Halving& halving, const Event& event);

// A job that had ended, as it is again before its state changes.
Job recalled_job(const JobRecalled& recalled, Time at);

}  // namespace podium
