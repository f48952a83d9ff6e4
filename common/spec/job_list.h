// A spec of several jobs: `jobs` lists them, each a mapping that is laid over the rest of the document. They
// name one another by their names in it. Pure.
#pragma once

#include <nlohmann/json.hpp>

#include "common/spec/load.h"
#include "common/spec/problems.h"

namespace podium {

bool lists_jobs(const nlohmann::json& document);

// Adds a problem for each job that a spec of a single job, or of a study, names by anything but its number.
void check_numbers(const nlohmann::json& document, Problems& problems);

// Takes what the command line has set out of every job, so that it counts for all of them.
void clear_overridden(const std::vector<Override>& overrides, nlohmann::json& document);

// Adds every problem with the document, each in its place; without one, the result is the experiment. A
// problem of what jobs have in common is told once.
LoadedExperiment load_job_list(const nlohmann::json& document, Problems& problems);

}  // namespace podium
