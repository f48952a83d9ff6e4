#include "coordinator/mlflow/byte_range.h"

#include <algorithm>
#include <charconv>

namespace podium::mlflow {
namespace {

// Digits alone, below 2^63.
std::optional<std::int64_t> range_bound(std::string_view digits) {
  std::int64_t number = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, number);
  if (error != std::errc() || end != last || digits.starts_with('-')) return std::nullopt;
  return number;
}

}  // namespace

RangeAsked range_of(std::string_view field, std::int64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!field.starts_with(kUnit)) return {};
  field.remove_prefix(kUnit.size());
  const std::size_t dash = field.find('-');
  if (dash == field.npos) return {};
  const auto first = range_bound(field.substr(0, dash));
  const auto last = range_bound(field.substr(dash + 1));
  if (dash == 0) {  // the last so many
    if (!last) return {};
    if (*last == 0 || size == 0) return {std::nullopt, true};
    return {ByteRange{size - std::min(*last, size), size}, false};
  }
  const bool open = dash + 1 == field.size();
  if (!first || (!open && (!last || *last < *first))) return {};
  if (*first >= size) return {std::nullopt, true};
  return {ByteRange{*first, open ? size : std::min(*last, size - 1) + 1}, false};
}

}  // namespace podium::mlflow
