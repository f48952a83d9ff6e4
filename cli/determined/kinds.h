// Values that are not of the kind that Determined wants, such as a word for a number.
#pragma once

#include "cli/determined/experiment.h"

namespace podium::cli {

// Tells each with its place and leaves it out, as if it were not there.
void leave_wrong_kinds(DeterminedExperiment& experiment);

}  // namespace podium::cli
