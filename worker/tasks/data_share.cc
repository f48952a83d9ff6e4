#include "worker/tasks/data_share.h"

#include <algorithm>

namespace podium {
namespace {

constexpr std::size_t kStepsAhead = 4;

}  // namespace

SampleRange share_of_held_out(std::int64_t samples, DataRank place) {
  const std::int64_t begin = samples * place.rank / place.size;
  return {begin, samples * (place.rank + 1) / place.size, begin};
}

double mean(double sum, double count) { return sum / std::max(count, 1.0); }

GlobalBatches::GlobalBatches(std::int64_t global, DataRank place, Make make)
    : global_(global), place_(place), make_(std::move(make)) {}

SampleRange GlobalBatches::range_of(std::int64_t batch) const {
  const std::int64_t count = global_ / place_.size, first = count * place_.rank;
  const std::int64_t begin = (batch - 1) * global_ + first;
  return {begin, begin + count, first};
}

void GlobalBatches::start(std::int64_t first_batch) {
  prefetcher_.reset();
  prefetcher_ = std::make_unique<Prefetcher<TaskBatch>>(
      [this, batch = first_batch]() mutable { return make_(range_of(batch++)); }, kStepsAhead);
}

}  // namespace podium
