// Which metrics --metric names: * stands for any text, ? for one byte, everything else for itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace podium::cli {

bool matches_pattern(std::string_view pattern, std::string_view name);

// Any of them; of none all.
bool is_chosen(const std::string& metric, const std::vector<std::string>& patterns);

}  // namespace podium::cli
