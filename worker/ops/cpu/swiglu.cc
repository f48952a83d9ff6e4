#include "worker/ops/swiglu.h"

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/vector_math.h"

namespace podium::ops::cpu {
namespace {

template <class T>
PODIUM_SIMD_CLONES void forward_row(const T* a, const T* b, std::int64_t count, T* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const float gate = to_float(a[i]);
    y[i] = from_float<T>(gate / (1.0F + fast_exp(-gate)) * to_float(b[i]));
  }
}

template <class T>
PODIUM_SIMD_CLONES void backward_row(const T* a, const T* b, const T* dy, std::int64_t count, T* da, T* db) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const float gate = to_float(a[i]), linear = to_float(b[i]), gradient = to_float(dy[i]);
    const float s = 1.0F / (1.0F + fast_exp(-gate));
    da[i] = from_float<T>(gradient * linear * s * (1.0F + gate * (1.0F - s)));
    db[i] = from_float<T>(gradient * gate * s);
  }
}

}  // namespace

void swiglu_forward(Context& context, ConstTensorView x, TensorView y) {
  const std::int64_t n = y.shape[1];
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, x.shape[0], 1, [&](Range range, int) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const T* const a = x.data<T>() + 2 * i * n;
        forward_row(a, a + n, n, y.data<T>() + i * n);
      }
    });
  });
}

void swiglu_backward(Context& context, ConstTensorView x, ConstTensorView dy, TensorView dx) {
  const std::int64_t n = dy.shape[1];
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, x.shape[0], 1, [&](Range range, int) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const T* const a = x.data<T>() + 2 * i * n;
        T* const da = dx.data<T>() + 2 * i * n;
        backward_row(a, a + n, dy.data<T>() + i * n, n, da, da + n);
      }
    });
  });
}

}  // namespace podium::ops::cpu
