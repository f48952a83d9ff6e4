// The part of `apply` that concerns one job alone, so that `handle` can look ahead on a copy of it.
#pragma once

#include "coordinator/core/events.h"

namespace podium {

void apply_to_job(Job& job, const Event& event);

}  // namespace podium
