#include "worker/ops/fake_quantise.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "worker/ops/cpu/backend.h"
#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/magnitude.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/quantise.h"
#include "worker/ops/cpu/simd.h"

namespace podium::ops::cpu {
namespace {

constexpr std::int64_t kGrain = 1024;

template <class Q>
PODIUM_INLINE float rounded(float scaled);
template <>
PODIUM_INLINE float rounded<std::int8_t>(float scaled) {
  const float limited = scaled < -128.0F ? -128.0F : scaled > 127.0F ? 127.0F : scaled;
  return (limited + 12582912.0F) - 12582912.0F;  // 1.5 * 2^23: the fraction is rounded away
}
template <>
PODIUM_INLINE float rounded<Float8E4M3>(float scaled) {
  return to_float(to_float8_e4m3(scaled));
}

// Whether the value rounds to one of the type's without being limited to its largest.
template <class Q>
PODIUM_INLINE bool within(float scaled);
template <>
PODIUM_INLINE bool within<std::int8_t>(float scaled) {
  return scaled >= -128.5F && scaled < 127.5F;
}
template <>
PODIUM_INLINE bool within<Float8E4M3>(float scaled) {
  return scaled >= -Float8E4M3::kLargest && scaled <= Float8E4M3::kLargest;
}

float widened(float range, std::uint32_t magnitude) {
  const float value = std::bit_cast<float>(magnitude);
  return value == value ? std::max(range, value) : std::numeric_limits<float>::infinity();
}

template <class T, class Q>
PODIUM_SIMD_CLONES void tensor_range(const T* x, std::int64_t count, float scale, T* y) {
  const float inverse = 1.0F / scale;
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) y[i] = from_float<T>(rounded<Q>(to_float(x[i]) * inverse) * scale);
}

template <class T, class Q>
PODIUM_SIMD_CLONES void weight_row(const T* x, std::int64_t count, float scale, T* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) y[i] = from_float<T>(rounded<Q>(to_float(x[i]) / scale) * scale);
}

template <class T, class Q>
PODIUM_SIMD_CLONES void backward_range(const T* x, const T* dy, std::int64_t count, float inverse, float add,
                                       T* dx) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const float before = add != 0.0F ? to_float(dx[i]) : 0.0F;
    const float gradient = within<Q>(to_float(x[i]) * inverse) ? to_float(dy[i]) : 0.0F;
    dx[i] = from_float<T>(before + gradient);
  }
}

}  // namespace

void widen_ranges(Context& context, ConstTensorView x, TensorView ranges) {
  const std::int64_t columns = x.shape[1];
  float* const range = ranges.data<float>();
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    if (ranges.size() == 1) {
      *range = widened(*range, largest_magnitude(x.data<T>(), x.size(), context.threads));
      return;
    }
    parallel_ranges(context.threads, x.shape[0], 1, [&](Range rows, int) {
      for (std::int64_t row = rows.begin; row < rows.end; ++row)
        range[row] = widened(range[row], largest_magnitude(x.data<T>() + row * columns, columns));
    });
  });
}

void fake_quantise(Context& context, ConstTensorView x, DType type, ConstTensorView ranges, TensorView y) {
  const std::int64_t columns = x.shape[1];
  const float* const range = ranges.data<float>();
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    with_quantised_type(type, [&]<class Q>(Type<Q>) {
      const T* const from = x.data<T>();
      T* const to = y.data<T>();
      if (ranges.size() == 1) {
        parallel_ranges(context.threads, x.size(), kGrain, [&](Range part, int) {
          tensor_range<T, Q>(from + part.begin, part.end - part.begin, quantisation_scale(type, *range),
                             to + part.begin);
        });
        return;
      }
      parallel_ranges(context.threads, x.shape[0], 1, [&](Range rows, int) {
        for (std::int64_t row = rows.begin; row < rows.end; ++row)
          weight_row<T, Q>(from + row * columns, columns, quantisation_scale(type, range[row]),
                           to + row * columns);
      });
    });
  });
}

void fake_quantise_backward(Context& context, ConstTensorView x, DType type, ConstTensorView range,
                            ConstTensorView dy, bool accumulate, TensorView dx) {
  const float inverse = 1.0F / quantisation_scale(type, *range.data<float>());
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    with_quantised_type(type, [&]<class Q>(Type<Q>) {
      parallel_ranges(context.threads, x.size(), kGrain, [&](Range part, int) {
        backward_range<T, Q>(x.data<T>() + part.begin, dy.data<T>() + part.begin, part.end - part.begin,
                             inverse, accumulate ? 1.0F : 0.0F, dx.data<T>() + part.begin);
      });
    });
  });
}

}  // namespace podium::ops::cpu
