// Whether the jobs of a submission can begin with the checkpoints of the jobs that they name (model.init and
// resume), as far as the specs of both say, and what those have saved.
#pragma once

#include "common/spec/load.h"
#include "coordinator/api/api.h"

namespace podium {

// With JSON pointers for places, as the core's errors. A job that does not exist is the core's to refuse.
awaitable<Errors> origin_problems(Api& api, const LoadedExperiment& loaded);

}  // namespace podium
