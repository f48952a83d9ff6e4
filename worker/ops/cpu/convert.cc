#include "worker/ops/cpu/convert.h"

#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/simd.h"

namespace podium::ops::cpu {
namespace {

constexpr std::int64_t kGrain = 1024;

template <class From, class To>
PODIUM_SIMD_CLONES void convert_range(const From* from, std::int64_t count, To* to) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) to[i] = from_float<To>(to_float(from[i]));
}

template <class From, class To>
void convert(const From* from, std::int64_t count, To* to, int threads) {
  parallel_ranges(threads, count, kGrain, [&](Range range, int) {
    convert_range(from + range.begin, range.end - range.begin, to + range.begin);
  });
}

}  // namespace

void widen(const BFloat16* from, std::int64_t count, float* to, int threads) {
  convert(from, count, to, threads);
}

void narrow(const float* from, std::int64_t count, BFloat16* to, int threads) {
  convert(from, count, to, threads);
}

}  // namespace podium::ops::cpu
