// The time of a drain or a reservation, as people read it: {"from_ms", "until_ms"}, either of which may be
// null.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace podium::cli {

bool begins_later(const nlohmann::json& window, std::int64_t now);

// " from 2026-03-01 20:00 until 2026-03-01 23:00", in local time; without a beginning that has been.
std::string window_text(const nlohmann::json& window, std::int64_t now);

}  // namespace podium::cli
