// Figures that others published, as a table of their own.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/terminal.h"

namespace podium::cli {

std::string published_table(const nlohmann::json& rows, const Terminal& terminal);

}  // namespace podium::cli
