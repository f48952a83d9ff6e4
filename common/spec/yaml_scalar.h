// Converts plain YAML scalars to JSON by the YAML 1.2 core schema: "on" and "yes" are text, 0x1F is 31, 1e-3
// is a number.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace podium {

// Nothing for a number JSON cannot hold (.inf, .nan, or one too large).
std::optional<nlohmann::json> plain_scalar(std::string_view text);

}  // namespace podium
