#include "worker/ops/rms_norm.h"

#include <algorithm>
#include <cmath>

#include "worker/ops/cpu/backend.h"
#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/simd.h"

namespace podium::ops::cpu {
namespace {

template <class T>
PODIUM_SIMD_CLONES void normalise_row(const T* x, std::int64_t columns, const float* gamma, float epsilon,
                                      T* y, float* inverse_rms) {
  float squares = 0.0F;
#pragma omp simd reduction(+ : squares)
  for (std::int64_t j = 0; j < columns; ++j) squares += to_float(x[j]) * to_float(x[j]);
  const float inverse = 1.0F / std::sqrt(squares / static_cast<float>(columns) + epsilon);
#pragma omp simd
  for (std::int64_t j = 0; j < columns; ++j) y[j] = from_float<T>(to_float(x[j]) * inverse * gamma[j]);
  *inverse_rms = inverse;
}

// dx of one row; adds the row's share to the gradient of gamma.
template <class T, bool kResidual>
PODIUM_SIMD_CLONES void backward_row(const T* dy, const T* x, float inverse, std::int64_t columns,
                                     const float* gamma, const T* dresidual, T* dx, float* dgamma) {
  float product = 0.0F;
#pragma omp simd reduction(+ : product)
  for (std::int64_t j = 0; j < columns; ++j) {
    const float gradient = to_float(dy[j]), x_hat = to_float(x[j]) * inverse;
    dgamma[j] += gradient * x_hat;
    product += gradient * gamma[j] * x_hat;
  }
  const float mean_product = product / static_cast<float>(columns);
#pragma omp simd
  for (std::int64_t j = 0; j < columns; ++j) {
    const float x_hat = to_float(x[j]) * inverse;
    const float gradient = inverse * (to_float(dy[j]) * gamma[j] - x_hat * mean_product);
    dx[j] = from_float<T>(kResidual ? gradient + to_float(dresidual[j]) : gradient);
  }
}

// Each thread's sums for gamma, added to the gradient in thread order.
class PartialSums {
 public:
  PartialSums(Context& context, std::int64_t columns)
      : threads_(context.threads),
        columns_(columns),
        values_(context.scratch.allocate(DType::f32, Shape{threads_, columns}).data<float>()) {
    std::fill_n(values_, threads_ * columns, 0.0F);
  }
  float* of(int thread) const { return values_ + thread * columns_; }
  void add_to(const TensorView& dgamma) const {
    for (std::int64_t i = 0; i < threads_ * columns_; ++i) dgamma.data<float>()[i % columns_] += values_[i];
  }

 private:
  std::int64_t threads_, columns_;
  float* values_;
};

}  // namespace

void rms_norm_forward(Context& context, ConstTensorView x, const RmsNormParameters& parameters, TensorView y,
                      TensorView statistics) {
  const std::int64_t columns = x.shape[1];
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, x.shape[0], 1, [&](Range range, int) {
      for (std::int64_t i = range.begin; i < range.end; ++i)
        normalise_row(x.data<T>() + i * columns, columns, parameters.gamma.data<float>(), parameters.epsilon,
                      y.data<T>() + i * columns, statistics.data<float>() + i);
    });
  });
}

void rms_norm_backward(Context& context, ConstTensorView dy, ConstTensorView x, ConstTensorView statistics,
                       const RmsNormParameters& parameters, TensorView dx, TensorView dgamma,
                       ConstTensorView dresidual) {
  const ArenaScope scope(context.scratch);
  const std::int64_t columns = x.shape[1];
  const PartialSums sums(context, columns);
  const float* const gamma = parameters.gamma.data<float>();
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    const T* const residual = dresidual.address == nullptr ? nullptr : dresidual.data<T>();
    parallel_ranges(context.threads, x.shape[0], 1, [&](Range range, int thread) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const std::int64_t at = i * columns;
        const auto run = residual != nullptr ? backward_row<T, true> : backward_row<T, false>;
        run(dy.data<T>() + at, x.data<T>() + at, statistics.data<float>()[i], columns, gamma,
            residual != nullptr ? residual + at : nullptr, dx.data<T>() + at, sums.of(thread));
      }
    });
  });
  sums.add_to(dgamma);
}

void add_rms_norm_forward(Context& context, TensorView branch, ConstTensorView residual,
                          const Dropout& dropout, const RmsNormParameters& parameters, TensorView y,
                          TensorView statistics) {
  cpu::add_dropout(context, branch, residual, dropout);
  cpu::rms_norm_forward(context, branch, parameters, y, statistics);
}

void add_rms_norm_backward(Context& context, ConstTensorView dy, ConstTensorView sum,
                           ConstTensorView statistics, const Dropout& dropout,
                           const RmsNormParameters& parameters, TensorView dsum, TensorView dbranch,
                           TensorView dgamma, ConstTensorView dresidual) {
  cpu::rms_norm_backward(context, dy, sum, statistics, parameters, dsum, dgamma, dresidual);
  cpu::dropout(context, dsum, dropout, dbranch);
}

}  // namespace podium::ops::cpu
