#include "coordinator/tracking/series.h"

#include <algorithm>
#include <cmath>

namespace podium {

Thinner::Thinner(std::size_t total, int points) : total_(total) {
  const auto limit = static_cast<std::size_t>(std::max(points, 4));
  buckets_ = total <= limit ? 0 : (limit - 2) / 2;
}

// The first and the last point have buckets of their own.
std::size_t Thinner::bucket_of(std::size_t index) const {
  if (index == 0) return 0;
  if (index + 1 >= total_) return buckets_ + 1;
  return 1 + (index - 1) * buckets_ / (total_ - 2);
}

void Thinner::add(const SeriesPoint& point) {
  const std::size_t index = index_++;
  if (buckets_ == 0) return kept_.push_back(point);
  if (bucket_of(index) != bucket_) {
    close_bucket();
    bucket_ = bucket_of(index);
  }
  const Kept here{index, point};
  if (std::isnan(point.value)) {
    if (!broken_) broken_ = here;
    return;
  }
  if (!low_ || point.value < low_->point.value) low_ = here;
  if (!high_ || point.value > high_->point.value) high_ = here;
}

void Thinner::close_bucket() {
  std::vector<Kept> bucket;
  for (auto* slot : {&low_, &high_, &broken_}) {
    if (*slot) bucket.push_back(**slot);
    slot->reset();
  }
  std::ranges::sort(bucket, {}, &Kept::index);
  const auto same = std::ranges::unique(bucket, {}, &Kept::index);
  bucket.erase(same.begin(), same.end());
  for (const Kept& kept : bucket) kept_.push_back(kept.point);
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
