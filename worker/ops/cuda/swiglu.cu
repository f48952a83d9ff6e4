// y = silu(a) * b and its gradients; formulas in worker/ops/swiglu.h. A thread computes eight neighbouring
// elements of a row of y.
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/vector.cuh"
#include "worker/ops/swiglu.h"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kThreads = 256;

// Where this thread's elements lie.
struct Place {
  std::int64_t row, column;

  __device__ explicit Place(std::int64_t columns) {
    const std::int64_t vectors = (columns + kVector - 1) / kVector;
    const std::int64_t vector = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    row = vector / vectors;
    column = vector % vectors * kVector;
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    forward_kernel(const T* x, T* y, std::int64_t rows, std::int64_t columns) {
  const Place place(columns);
  if (place.row >= rows) return;
  const T* const gates = x + 2 * place.row * columns;
  float a[kVector], b[kVector];
  load(gates, place.column, columns, a);
  load(gates + columns, place.column, columns, b);
#pragma unroll
  for (int i = 0; i < kVector; ++i) a[i] = __fdividef(a[i], 1.0F + __expf(-a[i])) * b[i];
  store(y + place.row * columns, place.column, columns, a);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    backward_kernel(const T* x, const T* dy, T* dx, std::int64_t rows, std::int64_t columns) {
  const Place place(columns);
  if (place.row >= rows) return;
  const T* const gates = x + 2 * place.row * columns;
  float a[kVector], b[kVector], gradients[kVector];
  load(gates, place.column, columns, a);
  load(gates + columns, place.column, columns, b);
  load(dy + place.row * columns, place.column, columns, gradients);
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    const float s = __fdividef(1.0F, 1.0F + __expf(-a[i]));
    const float silu = a[i] * s;
    a[i] = gradients[i] * b[i] * (s + silu * (1.0F - s));
    b[i] = gradients[i] * silu;
  }
  T* const dgates = dx + 2 * place.row * columns;
  store(dgates, place.column, columns, a);
  store(dgates + columns, place.column, columns, b);
}

unsigned blocks_for(const Shape& half) {
  const std::int64_t vectors = half[0] * ((half[1] + kVector - 1) / kVector);
  return static_cast<unsigned>((vectors + kThreads - 1) / kThreads);
}

}  // namespace

void swiglu_forward(Context& context, ConstTensorView x, TensorView y) {
  if (y.size() == 0) return;
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    launch(context, "swiglu_forward", forward_kernel<T>, blocks_for(y.shape), kThreads, 0, elements<T>(x),
           elements<T>(y), y.shape[0], y.shape[1]);
  });
}

void swiglu_backward(Context& context, ConstTensorView x, ConstTensorView dy, TensorView dx) {
  if (dy.size() == 0) return;
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    launch(context, "swiglu_backward", backward_kernel<T>, blocks_for(dy.shape), kThreads, 0, elements<T>(x),
           elements<T>(dy), elements<T>(dx), dy.shape[0], dy.shape[1]);
  });
}

}  // namespace podium::ops::cuda
