#include "cli/curves/number_text.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>

namespace podium::cli {
namespace {

constexpr double kLatestSecond = 1e11;  // in the year 5138; what is more are milliseconds

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_same_word(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((text[i] | 0x20) != lower[i]) return false;
  return true;
}

std::optional<double> named_value(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (is_same_word(text, "nan")) return std::numeric_limits<double>::quiet_NaN();
  if (!is_same_word(text, "inf") && !is_same_word(text, "infinity")) return std::nullopt;
  return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

// "2026-03-01 12:00:00.25", with T in place of the blank, and Z behind it or not.
std::optional<std::int64_t> date_of(std::string_view text) {
  if (text.ends_with('Z')) text.remove_suffix(1);
  double fraction = 0;
  if (text.size() > 20 && text[19] == '.') {
    const auto digits = number_of<double>(text.substr(19));
    if (!digits) return std::nullopt;
    fraction = *digits;
    text = text.substr(0, 19);
  }
  if (text.size() != 19 || text[4] != '-' || text[7] != '-' || (text[10] != ' ' && text[10] != 'T') ||
      text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const auto part = [text](std::size_t at, std::size_t size) {
    return number_of<unsigned>(text.substr(at, size)).value_or(9999);
  };
  const unsigned hour = part(11, 2), minute = part(14, 2), second = part(17, 2);
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(part(0, 4))),
                                         std::chrono::month(part(5, 2)), std::chrono::day(part(8, 2))};
  if (!date.ok() || part(0, 4) < 1970 || part(0, 4) > 9000 || hour > 23 || minute > 59 || second > 59)
    return std::nullopt;
  const auto time = std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
                    std::chrono::seconds(second);
  return 1000 * time.time_since_epoch().count() + std::llround(1000 * fraction);
}

}  // namespace

std::string value_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

std::optional<double> value_of(std::string_view text) {
  if (const auto named = named_value(text)) return named;
  return number_of<double>(text);
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  if (const auto whole = number_of<std::int64_t>(text)) return whole;
  const auto number = number_of<double>(text);  // "100.0", as spreadsheets write
  if (!number || *number != std::floor(*number) || std::abs(*number) > 9e15) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<std::int64_t> time_of(std::string_view text) {
  const auto number = number_of<double>(text);
  if (!number) return date_of(text);
  if (!(*number >= 0) || *number > 1000 * kLatestSecond) return std::nullopt;
  return std::llround(*number < kLatestSecond ? *number * 1000 : *number);
}

}  // namespace podium::cli
