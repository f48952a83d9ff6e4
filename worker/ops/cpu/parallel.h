// Splits [0, count) into one contiguous range a thread. The split depends on the counts alone, so sums
// gathered a thread and added in thread order are the same bits in every run. `body` must not throw.
#pragma once

#include <omp.h>

#include <cstdint>

namespace podium::ops::cpu {

struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// The part of [0, count) that belongs to `index` of `parts`, in multiples of `grain`.
inline Range part_of(std::int64_t count, std::int64_t grain, std::int64_t index, std::int64_t parts) {
  const std::int64_t grains = (count + grain - 1) / grain;
  const auto bound = [&](std::int64_t i) {
    const std::int64_t edge = grains * i / parts * grain;
    return edge < count ? edge : count;
  };
  return {bound(index), bound(index + 1)};
}

// body(Range, thread), within a parallel region even where one thread has all: oneDNN adds up in another order
// outside of one.
template <class Body>
void parallel_ranges(int threads, std::int64_t count, std::int64_t grain, const Body& body) {
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    const Range range = part_of(count, grain, thread, omp_get_num_threads());
    if (range.begin < range.end) body(range, thread);
  }
}

}  // namespace podium::ops::cpu
