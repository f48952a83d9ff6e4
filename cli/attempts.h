// A job's attempts as a table: when each ran, where, how far it came and how it ended.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/terminal.h"

namespace podium::cli {

// "0–7 on gpu-1 devices 0–7; 8–15 on gpu-2 devices 0–7"
std::string ranks_text(const nlohmann::json& attempt);

// "" when there are none yet.
std::string attempts_table(const nlohmann::json& attempts, const Terminal& terminal);

}  // namespace podium::cli
