#include "worker/ops/cpu/quantise.h"

#include "worker/ops/cpu/parallel.h"

namespace podium::ops::cpu {
namespace {

constexpr std::int64_t kGrain = 1024;

template <class T, class Q>
PODIUM_SIMD_CLONES void quantise_range(const T* from, std::int64_t count, float inverse_scale, Q* to) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) to[i] = quantised<Q>(to_float(from[i]) * inverse_scale);
}

}  // namespace

template <class T, class Q>
void quantise_row(const T* from, std::int64_t count, float inverse_scale, Q* to) {
  quantise_range(from, count, inverse_scale, to);
}
#define PODIUM_INSTANTIATE(T)                                              \
  template void quantise_row(const T*, std::int64_t, float, std::int8_t*); \
  template void quantise_row(const T*, std::int64_t, float, Float8E4M3*);
PODIUM_INSTANTIATE(float)
PODIUM_INSTANTIATE(BFloat16)
PODIUM_INSTANTIATE(Float16)
#undef PODIUM_INSTANTIATE

void quantise(const void* from, DType type, std::int64_t count, const QuantisedCopy& to, int threads) {
  with_float_type(type, [&]<class T>(Type<T>) {
    with_quantised_type(to.values.dtype, [&]<class Q>(Type<Q>) {
      parallel_ranges(threads, count, kGrain, [&](Range range, int) {
        quantise_range(static_cast<const T*>(from) + range.begin, range.end - range.begin, 1.0F / to.scale,
                       to.values.data<Q>() + range.begin);
      });
    });
  });
}

}  // namespace podium::ops::cpu
