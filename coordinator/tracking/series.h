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

// Both ends are within.
struct StepRange {
  std::int64_t first = INT64_MIN, last = INT64_MAX;

  bool holds(std::int64_t step) const { return first <= step && step <= last; }
};

// The extremes of consecutive points.
struct SeriesRun {
  std::optional<SeriesPoint> low, high, broken;  // the first lowest and highest numbers, and the first NaN
};

// Keeps about `points` of `total` points: the first, the last and, of buckets of equal count, the minimum,
// the maximum and the first NaN, so that a broken curve is seen to break. It holds only what it keeps, so a
// long series can be streamed through it. It thins runs of points in the same way and keeps their marked
// points.
class Thinner {
 public:
  Thinner(std::size_t total, int points);
  static Thinner of_runs(std::size_t total, int points);  // each has two marks

  // By step, `total` times.
  void add(const SeriesPoint& point);
  void add(const SeriesRun& run);
  Series finish() &&;

 private:
  struct Buckets {
    std::size_t count;  // 0: keep everything
  };

  Thinner(std::size_t total, Buckets buckets) : total_(total), buckets_(buckets.count) {}
  std::size_t bucket_of(std::size_t index) const;
  void go_to_bucket_of_next();
  void look_at(const SeriesPoint& number);
  void close_bucket();

  std::size_t total_;
  std::size_t buckets_;  // 0: keep everything
  std::size_t index_ = 0;
  std::size_t bucket_ = 0;
  SeriesRun here_;  // of the bucket
  Series kept_;
};

Series thin(const Series& series, int points);

}  // namespace podium
