#include "cli/moment.h"

#include <ctime>
#include <string_view>

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
    const int day = parts.tm_mday;
    const std::time_t seconds = utc ? ::timegm(&parts) : std::mktime(&parts);
    if (parts.tm_mday != day) return std::nullopt;  // February 30
    return from_millis(std::int64_t{seconds} * 1000);
  }
  return std::nullopt;
}

namespace {

std::string local(Time time, const char* format) {
  const std::time_t seconds = to_millis(time) / 1000;
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[sizeof "2026-03-01 20:00:05"];
  return std::strftime(text, sizeof text, format, &parts) > 0 ? text : "?";
}

}  // namespace

std::string local_time(Time time) { return local(time, "%Y-%m-%d %H:%M"); }
std::string local_time_of_day(Time time) { return local(time, "%Y-%m-%d %H:%M:%S"); }

std::string with_local_times(std::string sentence) {
  constexpr std::string_view kUtc = " UTC";
  constexpr std::size_t kLength = sizeof "2026-03-01 19:00:05" - 1;
  for (std::size_t at = 0; (at = sentence.find(kUtc, at)) != std::string::npos; ++at) {
    if (at < kLength) continue;
    std::tm parts{};
    const std::string utc = sentence.substr(at - kLength, kLength);
    const char* end = ::strptime(utc.c_str(), "%Y-%m-%d %H:%M:%S", &parts);
    if (!end || *end != '\0') continue;
    const Time time = from_millis(std::int64_t{::timegm(&parts)} * 1000);
    sentence.replace(at - kLength, kLength + kUtc.size(), local_time_of_day(time));
  }
  return sentence;
}

}  // namespace podium::cli
