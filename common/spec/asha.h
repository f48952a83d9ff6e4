// The rule of a sweep that ends its losing trials, with defaults filled in.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "common/model/asha.h"

namespace podium {

// For a filled document without a problem; nothing where its sweep runs every trial to its end.
std::optional<Asha> asha_of(const nlohmann::json& filled);

}  // namespace podium
