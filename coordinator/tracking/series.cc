#include "coordinator/tracking/series.h"

#include <algorithm>
#include <cmath>

namespace podium {

namespace {

// 0 where the points need no buckets.
std::size_t buckets_for(std::size_t marks, int points) {
  const auto limit = static_cast<std::size_t>(std::max(points, 4));
  return marks <= limit ? 0 : (limit - 2) / 2;
}

}  // namespace

Thinner::Thinner(std::size_t total, int points) : Thinner(total, Buckets{buckets_for(total, points)}) {}

Thinner Thinner::of_runs(std::size_t total, int points) {
  return {total, Buckets{buckets_for(2 * total, points)}};
}

// The first and the last point have buckets of their own.
std::size_t Thinner::bucket_of(std::size_t index) const {
  if (index == 0) return 0;
  if (index + 1 >= total_) return buckets_ + 1;
  return 1 + (index - 1) * buckets_ / (total_ - 2);
}

void Thinner::go_to_bucket_of_next() {
  const std::size_t bucket = buckets_ == 0 ? index_ : bucket_of(index_);
  if (bucket != bucket_) close_bucket();
  bucket_ = bucket;
  ++index_;
}

void Thinner::add(const SeriesPoint& point) {
  go_to_bucket_of_next();
  if (!std::isnan(point.value))
    look_at(point);
  else if (!here_.broken)
    here_.broken = point;
}

void Thinner::add(const SeriesRun& run) {
  go_to_bucket_of_next();
  if (run.low) look_at(*run.low);
  if (run.high) look_at(*run.high);
  if (!here_.broken) here_.broken = run.broken;
}

void Thinner::look_at(const SeriesPoint& number) {
  if (!here_.low || number.value < here_.low->value) here_.low = number;
  if (!here_.high || number.value > here_.high->value) here_.high = number;
}

void Thinner::close_bucket() {
  const auto begin = std::ssize(kept_);
  for (const auto& mark : {here_.low, here_.high, here_.broken})
    if (mark) kept_.push_back(*mark);
  here_ = {};
  std::sort(kept_.begin() + begin, kept_.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  const auto same = [](const SeriesPoint& a, const SeriesPoint& b) { return a.step == b.step; };
  kept_.erase(std::unique(kept_.begin() + begin, kept_.end(), same), kept_.end());
}

Series Thinner::finish() && {
  close_bucket();
  return std::move(kept_);
}

Series thin(const Series& series, int points) {
  Thinner thinner(series.size(), points);
  for (const SeriesPoint& point : series) thinner.add(point);
  return std::move(thinner).finish();
}

}  // namespace podium
