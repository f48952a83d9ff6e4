// The record board as people read it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/terminal.h"

namespace podium::cli {

// Of GET /board: the record of each benchmark on each kind and number of devices.
std::string board_text(const nlohmann::json& board, const Terminal& terminal, std::int64_t now);

// Of GET /board/{benchmark}: its records, how they fell, and all its runs.
std::string benchmark_text(const nlohmann::json& benchmark, const Terminal& terminal, std::int64_t now);

// "job 12: 1m03s then, 58.1s now (−8 %)", and whether it was on other text: a job beside the one that it
// reproduces, as both are in the API.
std::string reproduction_text(const nlohmann::json& original, const nlohmann::json& job);

}  // namespace podium::cli
