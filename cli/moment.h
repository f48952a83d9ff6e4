// Points in time as people type them.
#pragma once

#include <optional>
#include <string>

#include "common/base/time.h"

namespace podium::cli {

// "2026-03-01T20:00" or "2026-03-01 20:00:30" in local time, with a Z at its end in UTC, or "+2h30m" from
// `now`. Nothing for anything else.
std::optional<Time> parse_moment(const std::string& text, Time now);

}  // namespace podium::cli
