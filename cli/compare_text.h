// What GET /compare answered as text: a column a job while they are few, a row a job beyond that. Differences
// to the base stand beside the values, the best of a row is bold.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/terminal.h"

namespace podium::cli {

inline constexpr std::size_t kMostColumns = 8;  // jobs that stand side by side

std::string comparison_text(const nlohmann::json& comparison, const Terminal& terminal);

// "−3.1 %", "×57" of what is more than ten times as much; "" for nothing and for no difference.
std::string difference_text(const nlohmann::json& share);

}  // namespace podium::cli
