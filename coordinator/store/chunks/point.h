// A point of a metric series as the store keeps it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace podium {

struct StoredPoint {
  std::int64_t step = 0;
  std::int64_t time_ms = 0;
  double value = 0;
  int attempt = 0;  // that reported it
};

inline constexpr std::size_t kPointsInBlock = 64;
inline constexpr std::size_t kPointsInSpan = 4 * kPointsInBlock;
inline constexpr std::size_t kPointsInChunk = kPointsInBlock * kPointsInBlock;  // at most

}  // namespace podium
