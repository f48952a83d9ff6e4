#include "common/base/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace podium {
namespace {

constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> kDurationUnits{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};

constexpr std::array<std::pair<std::string_view, std::int64_t>, 9> kSizeUnits{{{"B", 1},
                                                                               {"kB", 1'000},
                                                                               {"MB", 1'000'000},
                                                                               {"GB", 1'000'000'000},
                                                                               {"TB", 1'000'000'000'000},
                                                                               {"KiB", 1LL << 10},
                                                                               {"MiB", 1LL << 20},
                                                                               {"GiB", 1LL << 30},
                                                                               {"TiB", 1LL << 40}}};

// Reads "12.5" at the front of `text` and drops it.
std::optional<double> take_number(std::string_view& text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || end == text.data() || number < 0 || !std::isfinite(number)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// Reads the letters at the front of `text` and drops them.
std::string_view take_unit(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && ((text[length] | 32) >= 'a' && (text[length] | 32) <= 'z')) ++length;
  const std::string_view unit = text.substr(0, length);
  text.remove_prefix(length);
  return unit;
}

std::optional<std::int64_t> scaled(double number, std::int64_t unit) {
  const double product = number * static_cast<double>(unit);
  if (product >= static_cast<double>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return std::llround(product);
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::int64_t total = 0;
  auto next_unit = kDurationUnits.begin();
  while (!text.empty()) {
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    const std::string_view unit = take_unit(text);
    while (next_unit != kDurationUnits.end() && next_unit->first != unit) ++next_unit;
    if (next_unit == kDurationUnits.end()) return std::nullopt;
    const auto part = scaled(*number, next_unit->second);
    if (!part || __builtin_add_overflow(total, *part, &total)) return std::nullopt;
    if (total > kLongestDuration.count()) return std::nullopt;
    ++next_unit;
  }
  return std::chrono::milliseconds{total};
}

std::string format_duration(std::chrono::milliseconds duration) {
  std::int64_t rest = duration.count();
  if (rest <= 0) return "0s";
  std::string text;
  for (const auto& [unit, millis] : kDurationUnits) {
    if (rest < millis) continue;
    text += std::to_string(rest / millis) + std::string(unit);
    rest %= millis;
  }
  return text;
}

std::optional<std::int64_t> parse_size(std::string_view text) {
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  const std::string_view unit = take_unit(text);
  if (!text.empty()) return std::nullopt;
  for (const auto& [name, bytes] : kSizeUnits)
    if (name == unit) return scaled(*number, bytes);
  return std::nullopt;
}

}  // namespace podium
