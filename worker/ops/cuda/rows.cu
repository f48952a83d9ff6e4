// y[i] = x[rows[i]], 0 where no row is named, and dx[rows[i]] += dy[i]; a block moves a row.
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/vector.cuh"
#include "worker/ops/rows.h"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kThreads = 128;

template <class T>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(const T* x, const std::int32_t* rows, std::int64_t named, std::int64_t columns, T* y) {
  const std::int64_t i = blockIdx.x, row = i < named ? rows[i] : -1;
  for (std::int64_t column = threadIdx.x * kVector; column < columns; column += kThreads * kVector) {
    float values[kVector] = {};
    if (row >= 0) load(x + row * columns, column, columns, values);
    store(y + i * columns, column, columns, values);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    scatter_add_kernel(const T* dy, const std::int32_t* rows, std::int64_t columns, T* dx) {
  const std::int64_t i = blockIdx.x, row = rows[i];
  if (row < 0) return;
  for (std::int64_t column = threadIdx.x * kVector; column < columns; column += kThreads * kVector) {
    float sum[kVector], values[kVector];
    load(dx + row * columns, column, columns, sum);
    load(dy + i * columns, column, columns, values);
#pragma unroll
    for (int j = 0; j < kVector; ++j) sum[j] += values[j];
    store(dx + row * columns, column, columns, sum);
  }
}

}  // namespace

void gather_rows(Context& context, ConstTensorView x, std::span<const std::int32_t> rows, TensorView y) {
  if (y.size() == 0) return;
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    launch(context, "gather_rows", gather_kernel<T>, static_cast<unsigned>(y.shape[0]), kThreads, 0,
           elements<T>(x), rows.data(), static_cast<std::int64_t>(rows.size()), y.shape[1], elements<T>(y));
  });
}

void scatter_add_rows(Context& context, ConstTensorView dy, std::span<const std::int32_t> rows,
                      TensorView dx) {
  if (rows.empty() || dx.size() == 0) return;
  with_device_type(dy.dtype, [&]<class T>(Type<T>) {
    launch(context, "scatter_add_rows", scatter_add_kernel<T>, static_cast<unsigned>(rows.size()), kThreads,
           0, elements<T>(dy), rows.data(), dx.shape[1], elements<T>(dx));
  });
}

}  // namespace podium::ops::cuda
