#include "worker/ops/cpu/quantise.h"

#include "worker/ops/cpu/parallel.h"

namespace podium::ops::cpu {
namespace {

constexpr std::int64_t kGrain = 1024;

template <class T, class Q>
PODIUM_SIMD_CLONES void quantise_range(const T* from, std::int64_t count, float scale, Q* to) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) to[i] = quantised<Q>(to_float(from[i]) / scale);
}

}  // namespace

void quantise(const void* from, DType type, std::int64_t count, const QuantisedCopy& to, int threads) {
  with_float_type(type, [&]<class T>(Type<T>) {
    with_quantised_type(to.values.dtype, [&]<class Q>(Type<Q>) {
      parallel_ranges(threads, count, kGrain, [&](Range range, int) {
        quantise_range(static_cast<const T*>(from) + range.begin, range.end - range.begin, to.scale,
                       to.values.data<Q>() + range.begin);
      });
    });
  });
}

}  // namespace podium::ops::cpu
