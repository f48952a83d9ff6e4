#include "common/spec/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace podium {
namespace {

using nlohmann::json;

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

template <class Number>
std::optional<Number> whole_number(std::string_view text, int base) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

std::optional<json> integer(std::string_view text) {
  const auto prefixed = [&](std::string_view prefix) { return text.substr(0, 2) == prefix; };
  if (prefixed("0x") || prefixed("0o")) {
    const auto number = whole_number<std::uint64_t>(text.substr(2), prefixed("0x") ? 16 : 8);
    return number ? std::optional<json>(*number) : std::nullopt;
  }
  if (const auto number = whole_number<std::int64_t>(text, 10)) return *number;
  if (const auto number = whole_number<std::uint64_t>(text, 10)) return *number;
  return std::nullopt;
}

// [0-9]+(\.[0-9]*)?|\.[0-9]+, then an exponent or none.
bool looks_like_float(std::string_view text) {
  const auto digits = [&] {
    std::size_t count = 0;
    while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
    text.remove_prefix(count);
    return count;
  };
  std::size_t mantissa = digits();
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    mantissa += digits();
  }
  if (mantissa == 0) return false;
  if (text.empty()) return true;
  if (text.front() != 'e' && text.front() != 'E') return false;
  text.remove_prefix(1);
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
  return digits() > 0 && text.empty();
}

}  // namespace

std::optional<json> plain_scalar(std::string_view text) {
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return json(nullptr);
  if (is_one_of(text, {"true", "True", "TRUE"})) return json(true);
  if (is_one_of(text, {"false", "False", "FALSE"})) return json(false);
  std::string_view digits = text;
  const bool negative = digits.front() == '-';
  if (digits.front() == '+') digits.remove_prefix(1);
  if (digits == text || !digits.starts_with('-'))
    if (auto number = integer(digits)) return number;
  if (negative) digits.remove_prefix(1);
  if (is_one_of(digits, {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"})) return std::nullopt;
  if (!looks_like_float(digits)) return json(std::string(text));
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
  return json(negative ? -number : number);
}

}  // namespace podium
