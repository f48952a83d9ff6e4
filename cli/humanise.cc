#include "cli/humanise.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "common/base/time.h"

namespace podium::cli {

std::string human_count(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (int at = static_cast<int>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string human_value(double value) {
  if (std::isfinite(value) && std::abs(value) >= 10'000 && std::abs(value) < 1e15)
    return human_count(std::llround(value));
  return fmt::format("{:.4g}", value);
}

std::string human_value(const nlohmann::json& value) {
  if (value.is_number()) return human_value(value.get<double>());
  return value.is_string() ? value.get<std::string>() : "–";
}

std::string human_seconds(double seconds) {
  if (!std::isfinite(seconds) || seconds > 1e10) return "–";
  const auto whole = static_cast<std::int64_t>(std::max(0.0, seconds));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d{}h", whole / 86400, whole / 3600 % 24);
}

std::string in_words(std::string code) {
  std::ranges::replace(code, '_', ' ');
  return code;
}

std::string human_ago(const nlohmann::json& millis, std::int64_t now) {
  if (!millis.is_number()) return "–";
  return human_seconds(static_cast<double>(now - millis.get<std::int64_t>()) / 1000) + " ago";
}

std::int64_t now_millis() { return to_millis(SystemClock().now()); }

}  // namespace podium::cli
