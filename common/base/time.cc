#include "common/base/time.h"

#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>

namespace podium {

Time SystemClock::now() const {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

std::string format_time(Time time) {
  const std::int64_t millis = to_millis(time);
  const std::int64_t remainder = (millis % 1000 + 1000) % 1000;
  const auto seconds = static_cast<std::time_t>((millis - remainder) / 1000);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), remainder);
}

}  // namespace podium
