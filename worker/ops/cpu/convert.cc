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
void convert_all(const From* from, std::int64_t count, To* to, int threads) {
  parallel_ranges(threads, count, kGrain, [&](Range range, int) {
    convert_range(from + range.begin, range.end - range.begin, to + range.begin);
  });
}

}  // namespace

void widen(const void* from, DType type, std::int64_t count, float* to, int threads) {
  with_float_type(type,
                  [&]<class T>(Type<T>) { convert_all(static_cast<const T*>(from), count, to, threads); });
}

void narrow(const float* from, std::int64_t count, void* to, DType type, int threads) {
  with_float_type(type, [&]<class T>(Type<T>) { convert_all(from, count, static_cast<T*>(to), threads); });
}

void convert(ConstTensorView from, TensorView to, int threads) {
  with_float_type(to.dtype, [&]<class To>(Type<To>) {
    const auto convert_from = [&]<class From>(Type<From>) {
      convert_all(from.data<From>(), from.size(), to.data<To>(), threads);
    };
    if (from.dtype == DType::e4m3) return convert_from(Type<Float8E4M3>{});
    with_float_type(from.dtype, convert_from);
  });
}

}  // namespace podium::ops::cpu
