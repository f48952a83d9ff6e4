// What `sweep` varies: lists, all of whose combinations run, or with `trials` values drawn at random from
// lists and ranges. Equal sweeps give equal trials on every machine, and more trials keep the first ones.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/spec/problems.h"

namespace podium {

// The paths that a sweep varies: its keys but for trials, seed and asha.
std::vector<std::string> swept_paths(const nlohmann::json& sweep);

// How many jobs the sweep makes of one, at most `most`. The document may be unchecked.
std::size_t count_of_sweep(const nlohmann::json& document, std::size_t most);

// Sets each value that only `sweep` names to its first value, so that the document can be read as a job.
void fill_from_sweep(nlohmann::json& document);

// Adds a problem for each path that cannot be swept, each value that its parameter cannot take, and each
// invalid range.
void check_sweep(const nlohmann::json& document, Problems& problems);

// Fills in the sweep's defaults: its seed and the scale of its ranges.
void fill_sweep(nlohmann::json& sweep);

struct SweptValue {
  nlohmann::json value;
  std::string written_at;  // where the file has it, or its range
};
using SweptValues = std::vector<SweptValue>;  // one for each of swept_paths

// The trials of a sweep without a problem.
std::vector<SweptValues> trials_of(const nlohmann::json& sweep);

}  // namespace podium
