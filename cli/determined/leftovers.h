// The keys that have no counterpart in a spec, each with what to do instead, and those that nobody knows.
#pragma once

#include "cli/determined/experiment.h"

namespace podium::cli {

void note_leftovers(DeterminedExperiment& experiment);

}  // namespace podium::cli
