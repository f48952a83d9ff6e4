// y = tanh(x), dx = dy (1 - y^2), both in place; a thread computes eight neighbouring elements.
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/vector.cuh"
#include "worker/ops/tanh.h"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) forward_kernel(T* x, std::int64_t size) {
  const std::int64_t at = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kVector;
  if (at >= size) return;
  float values[kVector];
  load(x, at, size, values);
#pragma unroll
  for (int i = 0; i < kVector; ++i) values[i] = tanhf(values[i]);
  store(x, at, size, values);
}

template <class T>
__global__ void __launch_bounds__(kThreads) backward_kernel(const T* y, T* dy, std::int64_t size) {
  const std::int64_t at = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kVector;
  if (at >= size) return;
  float outputs[kVector], gradients[kVector];
  load(y, at, size, outputs);
  load(dy, at, size, gradients);
#pragma unroll
  for (int i = 0; i < kVector; ++i) gradients[i] *= 1.0F - outputs[i] * outputs[i];
  store(dy, at, size, gradients);
}

unsigned blocks_for(std::int64_t size) {
  constexpr std::int64_t kPerBlock = std::int64_t{kThreads} * kVector;
  return static_cast<unsigned>((size + kPerBlock - 1) / kPerBlock);
}

}  // namespace

void tanh_forward(Context& context, TensorView x) {
  if (x.size() == 0) return;
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    launch(context, "tanh_forward", forward_kernel<T>, blocks_for(x.size()), kThreads, 0, elements<T>(x),
           x.size());
  });
}

void tanh_backward(Context& context, ConstTensorView y, TensorView dy) {
  if (dy.size() == 0) return;
  with_device_type(dy.dtype, [&]<class T>(Type<T>) {
    launch(context, "tanh_backward", backward_kernel<T>, blocks_for(dy.size()), kThreads, 0, elements<T>(y),
           elements<T>(dy), dy.size());
  });
}

}  // namespace podium::ops::cuda
