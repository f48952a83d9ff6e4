// Wall-clock time in milliseconds, the unit of every wire and disk format, and the seam that replaces it in
// tests.
#pragma once

#include <chrono>
#include <string>

namespace podium {

using Duration = std::chrono::milliseconds;
using Time = std::chrono::sys_time<Duration>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Time now() const override;
};

inline std::int64_t to_millis(Time time) { return time.time_since_epoch().count(); }
inline Time from_millis(std::int64_t millis) { return Time{Duration{millis}}; }

// RFC 3339 in UTC with milliseconds: "2026-03-01T12:00:00.250Z".
std::string format_time(Time time);

}  // namespace podium
