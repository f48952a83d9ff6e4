// Studies: turns a document with `scaling` or `sweep` into one document for each job.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/spec/problems.h"

namespace podium {

struct Variant {
  nlohmann::json document;                        // without `scaling` and `sweep`
  std::map<std::string, std::string> written_at;  // pointers of changed values -> where the file has them
};

bool is_study(const nlohmann::json& document);

// Whether scaling.together is false: each job starts when those before it have ended, successful or not.
bool runs_in_turn(const nlohmann::json& document);

// Adds a problem where the study has too many jobs, or too many for a document of its size, before any of
// them is made. The document may be unchecked.
void check_study_size(const nlohmann::json& document, Problems& problems);

// Adds a problem where scaling.repeat cannot give the jobs seeds of their own.
void check_repeat(const nlohmann::json& document, Problems& problems);

// Every job of the study: device counts first, then all combinations of the sweep or its trials, then the
// seeds of `repeat`; for a study that runs in turn the smallest count first. `document` must have no problem
// so far.
std::vector<Variant> expand_study(const nlohmann::json& document, Problems& problems);

}  // namespace podium
