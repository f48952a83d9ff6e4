// y = gelu(x), x = gelu'(x); formulas in worker/ops/gelu.h. Tensors are taken as [1, size]; a thread computes
// eight neighbouring elements.
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/gelu.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/vector.cuh"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kThreads = 256;

struct ValueAndSlope {
  float value, slope;
};

// erf(z) within 1.5e-7 (Abramowitz and Stegun, 7.1.26) from e^(-z^2), which the slope needs anyway; with erff
// arithmetic, not memory, would bound the kernel.
__device__ __forceinline__ float erf_of(float z, float bell) {
  const float t = __fdividef(1.0F, 1.0F + 0.3275911F * fabsf(z));
  float p = 1.061405429F;
  p = p * t - 1.453152027F;
  p = p * t + 1.421413741F;
  p = p * t - 0.284496736F;
  p = p * t + 0.254829592F;
  return copysignf(1.0F - p * t * bell, z);
}

template <GeluKind kKind>
__device__ __forceinline__ ValueAndSlope gelu(float x) {
  if constexpr (kKind == GeluKind::erf) {
    constexpr float kInverseRoot2 = 0.70710678118654752F, kInverseRoot2Pi = 0.39894228040143268F;
    const float bell = __expf(-0.5F * x * x);
    const float phi = 0.5F + 0.5F * erf_of(x * kInverseRoot2, bell);
    return {x * phi, phi + x * kInverseRoot2Pi * bell};
  } else {
    constexpr float kTwoRoot2OverPi = 1.5957691216057308F, kCubic = 0.044715F;
    const float twice_u = kTwoRoot2OverPi * x * (1.0F + kCubic * x * x);
    const float twice_du = kTwoRoot2OverPi * (1.0F + 3.0F * kCubic * x * x);
    const float s = __fdividef(1.0F, 1.0F + __expf(-twice_u));
    return {x * s, s + x * s * (1.0F - s) * twice_du};
  }
}

template <class T, GeluKind kKind>
__global__ void __launch_bounds__(kThreads) gelu_kernel(T* x, T* y, std::int64_t size) {
  const std::int64_t at = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kVector;
  if (at >= size) return;
  float values[kVector], slopes[kVector];
  load(x, at, size, values);
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    const ValueAndSlope result = gelu<kKind>(values[i]);
    values[i] = result.value;
    slopes[i] = result.slope;
  }
  store(y, at, size, values);
  store(x, at, size, slopes);
}

template <class T>
__global__ void __launch_bounds__(kThreads) multiply_kernel(const T* slope, T* dy, std::int64_t size) {
  const std::int64_t at = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kVector;
  if (at >= size) return;
  float slopes[kVector], gradients[kVector];
  load(slope, at, size, slopes);
  load(dy, at, size, gradients);
#pragma unroll
  for (int i = 0; i < kVector; ++i) gradients[i] *= slopes[i];
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

void gelu_backward(Context& context, ConstTensorView slope, TensorView dy) {
  if (dy.size() == 0) return;
  with_device_type(dy.dtype, [&]<class T>(Type<T>) {
    launch(context, "gelu_backward", multiply_kernel<T>, blocks_for(dy.size()), kThreads, 0,
           elements<T>(slope), elements<T>(dy), dy.size());
  });
}

}  // namespace podium::ops::cuda
