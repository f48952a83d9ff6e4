// loss = (x - value)^2, dx = scale * 2 (x - value), for one prediction a row; a thread takes one.
#include "worker/ops/cuda/column_sums.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/loss_totals.cuh"
#include "worker/ops/cuda/step_value.cuh"
#include "worker/ops/cuda/vector.cuh"
#include "worker/ops/squared_error.h"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kThreads = 256;

// In double, as the sum is.
struct SquaredErrorResult {
  double loss;
  std::int32_t correct;
};

template <class T>
struct SquaredErrors {
  const T* x;
  const float* values;
  __device__ SquaredErrorResult operator()(std::int64_t row) const {
    const double error = static_cast<double>(to_f32(x[row])) - static_cast<double>(values[row]);
    return {error * error, 0};
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    gradient_kernel(T* x, const float* values, std::int64_t rows, StepValue<float> scale) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row < rows) x[row] = from_f32<T>(current(scale) * 2 * (to_f32(x[row]) - values[row]));
}

}  // namespace

void squared_error(Context& context, ConstTensorView x, std::span<const float> values,
                   CrossEntropySums* sums) {
  if (values.empty()) return;
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    add_totals(context, "squared_error", SquaredErrors<T>{elements<T>(x), values.data()}, x.shape[0], sums);
  });
}

void squared_error_backward(Context& context, TensorView x, std::span<const float> values,
                            const StepValue<float>& scale, TensorView dbias, CrossEntropySums* sums) {
  if (values.empty()) return;
  cuda::squared_error(context, x, values, sums);
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    const auto blocks = static_cast<unsigned>((x.shape[0] + kThreads - 1) / kThreads);
    launch(context, "squared_error", gradient_kernel<T>, blocks, kThreads, 0, elements<T>(x), values.data(),
           x.shape[0], scale);
  });
  if (dbias.address != nullptr) add_column_sums(context, x, {}, dbias);
}

}  // namespace podium::ops::cuda
