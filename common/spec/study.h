// Studies: one document with `scaling` or `sweep` becomes one document a job.
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

// scaling.together is false: each job starts when those before it have ended, however they did.
bool runs_in_turn(const nlohmann::json& document);

// Adds a problem when the study has too many jobs, or too many for a document of its size: before any of them
// is made. Of a document that nothing else has looked at yet.
void check_study_size(const nlohmann::json& document, Problems& problems);

// Adds a problem where scaling.repeat cannot give the jobs seeds of their own.
void check_repeat(const nlohmann::json& document, Problems& problems);

// Every job of the study, device counts first, then all combinations of the sweep or its trials, then the
// seeds of `repeat`; of one that runs in turn the smallest count first. `document` has no problem so far, and
// so not too many jobs.
std::vector<Variant> expand_study(const nlohmann::json& document, Problems& problems);

}  // namespace podium
