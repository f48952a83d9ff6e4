// Logging for the programs: one line for each event, on standard error, through spdlog.
#pragma once

#include <spdlog/spdlog.h>

#include <string>

namespace podium {

// Called once by main. `level` is trace, debug, info, warning, error or off; anything else is a user mistake
// and returns false.
bool set_up_logging(const std::string& program, const std::string& level);

}  // namespace podium
