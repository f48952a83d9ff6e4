// A line that is a JSON object, as lists of objects (.jsonl) have them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace podium {

// Throws BadData, "ORIGIN: why", where the line is no object, or has two members of one name.
nlohmann::json parse_json_object(std::string_view line, const std::string& origin);

}  // namespace podium
