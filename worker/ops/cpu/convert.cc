#include "worker/ops/cpu/convert.h"

#include "worker/ops/cpu/dispatch.h"
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

void widen(const void* from, DType type, std::int64_t count, float* to, int threads) {
  with_float_type(type, [&]<class T>(Type<T>) { convert(static_cast<const T*>(from), count, to, threads); });
}

void narrow(const float* from, std::int64_t count, void* to, DType type, int threads) {
  with_float_type(type, [&]<class T>(Type<T>) { convert(from, count, static_cast<T*>(to), threads); });
}

}  // namespace podium::ops::cpu
