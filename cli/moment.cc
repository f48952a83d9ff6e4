#include "cli/moment.h"

#include <ctime>

#include "common/base/units.h"

namespace podium::cli {

std::optional<Time> parse_moment(const std::string& text, Time now) {
  if (text.starts_with('+')) {
    const auto duration = parse_duration(text.substr(1));
    return duration ? std::optional(now + *duration) : std::nullopt;
  }
  const bool utc = text.ends_with('Z');
  const std::string local = utc ? text.substr(0, text.size() - 1) : text;
  for (const char* format : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M"}) {
    std::tm parts{};
    parts.tm_isdst = -1;  // as the time zone has it on that day
    const char* end = ::strptime(local.c_str(), format, &parts);
    if (!end || *end != '\0') continue;
    const std::time_t seconds = utc ? ::timegm(&parts) : std::mktime(&parts);
    return from_millis(std::int64_t{seconds} * 1000);
  }
  return std::nullopt;
}

}  // namespace podium::cli
