// y = gelu(x), dy *= gelu'(x); formulas in worker/ops/gelu.h. Tensors are taken as [1, size]; a thread
// computes eight neighbouring elements.
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/gelu.cuh"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/vector.cuh"
#include "worker/ops/gelu.h"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kThreads = 256;

template <class T, GeluKind kKind>
__global__ void __launch_bounds__(kThreads) gelu_kernel(const T* x, T* y, std::int64_t size) {
  const std::int64_t at = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kVector;
  if (at >= size) return;
  float values[kVector];
  load(x, at, size, values);
#pragma unroll
  for (int i = 0; i < kVector; ++i) values[i] = gelu<kKind>(values[i]).value;
  store(y, at, size, values);
}

template <class T, GeluKind kKind>
__global__ void __launch_bounds__(kThreads) gelu_backward_kernel(const T* x, T* dy, std::int64_t size) {
  const std::int64_t at = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kVector;
  if (at >= size) return;
  float values[kVector], gradients[kVector];
  load(x, at, size, values);
  load(dy, at, size, gradients);
#pragma unroll
  for (int i = 0; i < kVector; ++i) gradients[i] *= gelu<kKind>(values[i]).slope;
  store(dy, at, size, gradients);
}

unsigned blocks_for(std::int64_t size) {
  constexpr std::int64_t kPerBlock = std::int64_t{kThreads} * kVector;
  return static_cast<unsigned>((size + kPerBlock - 1) / kPerBlock);
}

}  // namespace

void gelu_forward(Context& context, TensorView x, TensorView y, GeluKind kind) {
  if (x.size() == 0) return;
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    const auto kernel =
        kind == GeluKind::erf ? gelu_kernel<T, GeluKind::erf> : gelu_kernel<T, GeluKind::tanh>;
    launch(context, "gelu_forward", kernel, blocks_for(x.size()), kThreads, 0, elements<T>(x), elements<T>(y),
           x.size());
  });
}

void gelu_backward(Context& context, const SavedGelu& saved, TensorView dy) {
  if (dy.size() == 0) return;
  with_device_type(dy.dtype, [&]<class T>(Type<T>) {
    const auto kernel = saved.kind == GeluKind::erf ? gelu_backward_kernel<T, GeluKind::erf>
                                                    : gelu_backward_kernel<T, GeluKind::tanh>;
    launch(context, "gelu_backward", kernel, blocks_for(dy.size()), kThreads, 0, elements<T>(saved.values),
           elements<T>(dy), dy.size());
  });
}

}  // namespace podium::ops::cuda
