// Metric series as values, and thinning them for a screen. Pure.
#pragma once

#include <cstdint>
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

// At most about `points` of them, by buckets of equal count that keep each bucket's minimum and maximum in step order.
// The first and last point always stay; so does a NaN in a bucket, for a curve that breaks should be seen to break.
Series thin(const Series& series, int points);

}  // namespace podium
