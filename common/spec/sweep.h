// What `sweep` varies: lists, whose combinations all run, or with `trials` values drawn at random from lists
// and ranges. The same sweep gives the same trials on every machine, and with more trials the first ones
// stay.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/spec/problems.h"

namespace podium {

// The paths that a sweep varies: its keys but for trials, seed and asha.
std::vector<std::string> swept_paths(const nlohmann::json& sweep);

// How many jobs it makes of one, at most `most`; of a document that nothing else has looked at yet.
std::size_t count_of_sweep(const nlohmann::json& document, std::size_t most);

// Gives values that only `sweep` names their first value, so that the document can be read as a job.
void fill_from_sweep(nlohmann::json& document);

// Adds a problem for each path that cannot be swept, each value its parameter cannot take, and each range
// that is none.
void check_sweep(const nlohmann::json& document, Problems& problems);

// Writes what it leaves out: its seed, and the scale of its ranges.
void fill_sweep(nlohmann::json& sweep);

struct SweptValue {
  nlohmann::json value;
  std::string written_at;  // where the file has it, or its range
};
using SweptValues = std::vector<SweptValue>;  // one for each of swept_paths

// Of a sweep without a problem.
std::vector<SweptValues> trials_of(const nlohmann::json& sweep);

}  // namespace podium
