// Doubles as integers in the same order, for keys of tables: -inf, …, -0, 0, …, inf, NaN. All NaNs are one.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace podium {

inline std::int64_t bits_of_value(double value) {
  if (std::isnan(value)) return INT64_MAX;
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits < 0 ? bits ^ INT64_MAX : bits;
}

inline double value_of_bits(std::int64_t bits) {
  if (bits == INT64_MAX) return std::numeric_limits<double>::quiet_NaN();
  return std::bit_cast<double>(bits < 0 ? bits ^ INT64_MAX : bits);
}

}  // namespace podium
