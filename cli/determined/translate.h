// An experiment's configuration of Determined as a spec of Podium's, which always is a valid one, and what of
// it means something else or is missing. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/determined/experiment.h"

namespace podium::cli {

struct Translation {
  nlohmann::ordered_json spec;
  std::vector<Note> notes;  // by line
};

// `file` begins the place of each problem, and names the spec where nothing else does.
Result<Translation> translate_determined(std::string_view yaml, const std::string& file);

// The spec as YAML, with the notes above it.
std::string spec_text(const Translation& translation, const std::string& file);

// "experiment.yaml:12: searcher.max_trials: …"
std::string note_text(const Note& note, const std::string& file);

}  // namespace podium::cli
