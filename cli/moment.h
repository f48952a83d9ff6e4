// Points in time as people type them.
#pragma once

#include <optional>
#include <string>

#include "common/base/time.h"

namespace podium::cli {

// "2026-03-01T20:00" or "2026-03-01 20:00:30" in local time, with a Z at its end in UTC, or "+2h30m" from
// `now`. Nothing for anything else.
std::optional<Time> parse_moment(const std::string& text, Time now);

// "2026-03-01 20:00", in local time.
std::string local_time(Time time);
// "2026-03-01 20:00:05", in local time.
std::string local_time_of_day(Time time);

// A sentence of the coordinator's with its times ("2026-03-01 19:00:05 UTC") in local time.
std::string with_local_times(std::string sentence);

}  // namespace podium::cli
