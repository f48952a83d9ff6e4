// What one data rank of D brings: its part of every global batch of a phase and of the held-out text. Which
// samples these are together does not depend on D.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "worker/data/prefetcher.h"
#include "worker/train/task.h"

namespace podium {

// Held-out samples are the same for every job, whatever its seed.
inline constexpr std::uint64_t kHeldOutSeed = 0;

struct DataRank {
  int rank = 0;
  int size = 1;
};

// Samples [begin, end), of which the first has the number `first` within its global batch or the held-out
// text.
struct SampleRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t first = 0;
};

SampleRange share_of_held_out(std::int64_t samples, DataRank place);

// 0 where there is nothing.
double mean(double sum, double count);

// Made some steps ahead on a thread of its own, by `make`, which is called for one range after another.
class GlobalBatches {
 public:
  using Make = std::function<TaskBatch(const SampleRange&)>;

  // `global`: samples of a batch, a multiple of the data ranks.
  GlobalBatches(std::int64_t global, DataRank place, Make make);

  // They count from 1; batch n has the samples [(n - 1) global, n global).
  void start(std::int64_t first_batch);
  TaskBatch next() { return prefetcher_->next(); }

 private:
  SampleRange range_of(std::int64_t batch) const;

  std::int64_t global_;
  DataRank place_;
  Make make_;
  std::unique_ptr<Prefetcher<TaskBatch>> prefetcher_;  // last: it uses the rest
};

}  // namespace podium
