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

// Has what the command line has set in `document`, which the file has as `written`, count for every job: it
// is taken out of the entries, or, where it is part of a mapping that is one value, set in each of those.
void spread_overrides(const std::vector<Override>& overrides, const nlohmann::json& written,
                      nlohmann::json& document, SourceMap& places);

// Adds every problem with the document, each in its place; without one, the result is the experiment. A
// problem of what jobs have in common is told once.
LoadedExperiment load_job_list(const nlohmann::json& document, Problems& problems);

}  // namespace podium
