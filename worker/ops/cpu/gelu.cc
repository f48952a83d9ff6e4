#include "worker/ops/gelu.h"

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/vector_math.h"

namespace podium::ops::cpu {
namespace {

constexpr std::int64_t kGrain = 1024;

template <class T>
PODIUM_SIMD_CLONES void erf_range(T* x, T* y, std::int64_t count) {
  constexpr float kInverseRoot2 = 0.70710678118654752F;
  constexpr float kInverseRoot2Pi = 0.39894228040143268F;
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = to_float(x[i]);
    const ErfExp e = fast_erf(value * kInverseRoot2);
    const float phi = 0.5F + 0.5F * e.erf;
    y[i] = from_float<T>(value * phi);
    x[i] = from_float<T>(phi + value * kInverseRoot2Pi * e.exp);
  }
}

// (1 + tanh(u)) / 2 is the logistic function of 2u.
template <class T>
PODIUM_SIMD_CLONES void tanh_range(T* x, T* y, std::int64_t count) {
  constexpr float kTwoRoot2OverPi = 1.5957691216057308F;
  constexpr float kCubic = 0.044715F;
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = to_float(x[i]), square = value * value;
    const float twice_u = kTwoRoot2OverPi * value * (1.0F + kCubic * square);
    const float twice_du = kTwoRoot2OverPi * (1.0F + 3.0F * kCubic * square);
    const float s = 1.0F / (1.0F + fast_exp(-twice_u));
    y[i] = from_float<T>(value * s);
    x[i] = from_float<T>(s + value * s * (1.0F - s) * twice_du);
  }
}

template <class T>
PODIUM_SIMD_CLONES void multiply_range(const T* slope, T* dy, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) dy[i] = from_float<T>(to_float(dy[i]) * to_float(slope[i]));
}

}  // namespace

void gelu_forward(Context& context, TensorView x, TensorView y, GeluKind kind) {
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    const auto gelu_range = kind == GeluKind::erf ? erf_range<T> : tanh_range<T>;
    T* const in = x.data<T>();
    T* const out = y.data<T>();
    parallel_ranges(context.threads, x.size(), kGrain,
                    [&](Range r, int) { gelu_range(in + r.begin, out + r.begin, r.end - r.begin); });
  });
}

void gelu_backward(Context& context, const SavedGelu& saved, TensorView dy) {
  with_float_type(dy.dtype, [&]<class T>(Type<T>) {
    const T* const slope = saved.values.data<T>();
    T* const gradient = dy.data<T>();
    parallel_ranges(context.threads, dy.size(), kGrain, [&](Range r, int) {
      multiply_range(slope + r.begin, gradient + r.begin, r.end - r.begin);
    });
  });
}

}  // namespace podium::ops::cpu
