// The searcher as a sweep, with asha where it stops trials early.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/determined/experiment.h"
#include "cli/determined/hyperparameters.h"
#include "cli/determined/lengths.h"

namespace podium::cli {

// Null for a single trial. Hyperparameters that cannot be varied get a value.
nlohmann::ordered_json sweep_of(DeterminedExperiment& experiment,
                                std::vector<Hyperparameter>& hyperparameters,
                                const std::optional<Length>& length);

}  // namespace podium::cli
