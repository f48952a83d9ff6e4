// Metric series as values, and thinning them for a screen. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/time.h"

namespace podium {

struct SeriesPoint {
  std::int64_t step = 0;
  Time time;
  double value = 0;

  bool operator==(const SeriesPoint&) const = default;
};

using Series = std::vector<SeriesPoint>;  // by step

// Keeps about `points` of `total`: the first, the last, and of buckets of equal count each one's minimum,
// maximum and first NaN, for a curve that breaks should be seen to break. Holds only what it keeps, so a long
// series can be streamed through it.
class Thinner {
 public:
  Thinner(std::size_t total, int points);

  void add(const SeriesPoint& point);  // by step, `total` times
  Series finish() &&;

 private:
  struct Kept {
    std::size_t index = 0;
    SeriesPoint point;
  };

  std::size_t bucket_of(std::size_t index) const;
  void close_bucket();

  std::size_t total_;
  std::size_t buckets_;  // 0: keep everything
  std::size_t index_ = 0;
  std::size_t bucket_ = 0;
  std::optional<Kept> low_, high_, broken_;
  Series kept_;
};

Series thin(const Series& series, int points);

}  // namespace podium
