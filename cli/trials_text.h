// The trials of a sweep that ends those that lose, as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/terminal.h"

namespace podium::cli {

// Of a study as the API tells it, whose `asha` is not null.
std::string trials_text(const nlohmann::json& study, const Terminal& terminal);

}  // namespace podium::cli
