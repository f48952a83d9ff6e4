// The part of a phase's global batches and of the held-out text that one of D data ranks brings. All parts
// together are the same samples for every D.
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

// The samples [begin, end). The first of them has the number `first` within its global batch or the held-out
// text.
struct SampleRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t first = 0;
};

SampleRange share_of_held_out(std::int64_t samples, DataRank place);

// The mean, which is 0 if the count is 0.
double mean(double sum, double count);

// Makes this rank's part of the global batches some steps ahead, on a thread of its own. That thread calls
// `make` for one range after another.
class GlobalBatches {
 public:
  using Make = std::function<TaskBatch(const SampleRange&)>;

  // A global batch has `global` samples, a multiple of the number of data ranks.
  GlobalBatches(std::int64_t global, DataRank place, Make make);

  // Batches count from 1; batch n has the samples [(n - 1) global, n global).
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
