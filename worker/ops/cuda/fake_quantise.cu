// Rounding to 8 bits in the type of activations, and its gradient. Ranges never leave the device, so that a
// recorded step (a CUDA graph) can be replayed. A thread takes eight neighbouring elements at a time; rows of
// a weight and the rows that a range is found over have a block each.
#include <cmath>

#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/quantise.cuh"
#include "worker/ops/cuda/reduce.cuh"
#include "worker/ops/cuda/state.h"
#include "worker/ops/fake_quantise.h"

namespace podium::ops::cuda {
namespace {

constexpr int kWarps = 8;
constexpr unsigned kThreads = kWarps * 32;

template <class Q>
__device__ __forceinline__ float rounded(float scaled);
template <>
__device__ __forceinline__ float rounded<std::int8_t>(float scaled) {
  return rintf(scaled < -128.0F ? -128.0F : scaled > 127.0F ? 127.0F : scaled);
}
template <>
__device__ __forceinline__ float rounded<Float8E4M3>(float scaled) {
#ifdef __CUDACC__
  __nv_fp8_e4m3 element;
  element.__x = __nv_cvt_float_to_fp8(scaled, __NV_SATFINITE, __NV_E4M3);
  return static_cast<float>(element);
#else
  return to_float(to_float8_e4m3(scaled));
#endif
}

// Whether the value rounds to one of the type's without being limited to its largest.
template <class Q>
__device__ __forceinline__ bool within(float scaled);
template <>
__device__ __forceinline__ bool within<std::int8_t>(float scaled) {
  return scaled >= -128.5F && scaled < 127.5F;
}
template <>
__device__ __forceinline__ bool within<Float8E4M3>(float scaled) {
  return scaled >= -Float8E4M3::kLargest && scaled <= Float8E4M3::kLargest;
}

template <class Q>
__device__ __forceinline__ float scale_of(float range) {
  return quantisation_scale(dtype_of<Q>, range);
}

// Of magnitudes and not numbers, which count as infinity.
__device__ __forceinline__ float larger(float range, float value) {
  const float magnitude = fabsf(value);
  return magnitude <= range ? range : magnitude == magnitude ? magnitude : INFINITY;
}

struct Larger {
  __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

// ranges[row], or where `parts` is given parts[row], = the largest magnitude of a row; the former widen.
template <class T>
__global__ void __launch_bounds__(kThreads)
    largest_of_row_kernel(const T* x, std::int64_t columns, float* parts, float* ranges) {
  const std::int64_t row = blockIdx.x;
  float largest = 0;
  for (std::int64_t column = threadIdx.x * kVector; column < columns; column += kThreads * kVector) {
    float values[kVector];
    load(x + row * columns, column, columns, values);
#pragma unroll
    for (int i = 0; i < kVector; ++i) largest = larger(largest, values[i]);
  }
  largest = reduce_block<kWarps>(largest, Larger{});
  if (threadIdx.x != 0) return;
  if (parts != nullptr)
    parts[row] = largest;
  else
    ranges[row] = larger(ranges[row], largest);
}

__global__ void __launch_bounds__(kThreads)
    largest_of_parts_kernel(const float* parts, std::int64_t count, float* range) {
  float largest = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += kThreads) largest = larger(largest, parts[i]);
  largest = reduce_block<kWarps>(largest, Larger{});
  if (threadIdx.x == 0) *range = larger(*range, largest);
}

template <class T, class Q>
__global__ void __launch_bounds__(kThreads)
    round_tensor_kernel(const T* x, std::int64_t size, const float* range, T* y) {
  const std::int64_t at = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kVector;
  if (at >= size) return;
  const float scale = scale_of<Q>(*range), inverse = 1.0F / scale;
  float values[kVector];
  load(x, at, size, values);
#pragma unroll
  for (int i = 0; i < kVector; ++i) values[i] = rounded<Q>(values[i] * inverse) * scale;
  store(y, at, size, values);
}

template <class T, class Q>
__global__ void __launch_bounds__(kThreads)
    round_rows_kernel(const T* x, std::int64_t columns, const float* ranges, T* y) {
  const std::int64_t row = blockIdx.x;
  const float scale = scale_of<Q>(ranges[row]);
  for (std::int64_t column = threadIdx.x * kVector; column < columns; column += kThreads * kVector) {
    float values[kVector];
    load(x + row * columns, column, columns, values);
#pragma unroll
    for (int i = 0; i < kVector; ++i) values[i] = rounded<Q>(values[i] / scale) * scale;
    store(y + row * columns, column, columns, values);
  }
}

template <class T, class Q>
__global__ void __launch_bounds__(kThreads)
    backward_kernel(const T* x, const T* dy, std::int64_t size, const float* range, bool accumulate, T* dx) {
  const std::int64_t at = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kVector;
  if (at >= size) return;
  const float inverse = 1.0F / scale_of<Q>(*range);
  float values[kVector], gradients[kVector], sums[kVector] = {};
  load(x, at, size, values);
  load(dy, at, size, gradients);
  if (accumulate) load(dx, at, size, sums);
#pragma unroll
  for (int i = 0; i < kVector; ++i)
    if (within<Q>(values[i] * inverse)) sums[i] += gradients[i];
  store(dx, at, size, sums);
}

unsigned blocks_for(std::int64_t size) {
  constexpr std::int64_t kPerBlock = std::int64_t{kThreads} * kVector;
  return static_cast<unsigned>((size + kPerBlock - 1) / kPerBlock);
}

}  // namespace

void widen_ranges(Context& context, ConstTensorView x, TensorView ranges) {
  if (x.size() == 0) return;
  const std::int64_t rows = x.shape[0];
  float* const range = elements<float>(ranges);
  float* parts = nullptr;
  if (ranges.size() == 1)
    parts = static_cast<float*>(cuda_state(context).scratch(static_cast<std::size_t>(rows) * sizeof(float)));
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    launch(context, "widen_ranges", largest_of_row_kernel<T>, static_cast<unsigned>(rows), kThreads, 0,
           elements<T>(x), x.shape[1], parts, range);
  });
  if (parts != nullptr)
    launch(context, "widen_ranges", largest_of_parts_kernel, 1, kThreads, 0, parts, rows, range);
}

void fake_quantise(Context& context, ConstTensorView x, DType type, ConstTensorView ranges, TensorView y) {
  if (x.size() == 0) return;
  const auto* const range = elements<float>(ranges);
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    with_quantised_type(type, [&]<class Q>(Type<Q>) {
      if (ranges.size() == 1)
        launch(context, "fake_quantise", round_tensor_kernel<T, Q>, blocks_for(x.size()), kThreads, 0,
               elements<T>(x), x.size(), range, elements<T>(y));
      else
        launch(context, "fake_quantise", round_rows_kernel<T, Q>, static_cast<unsigned>(x.shape[0]), kThreads,
               0, elements<T>(x), x.shape[1], range, elements<T>(y));
    });
  });
}

void fake_quantise_backward(Context& context, ConstTensorView x, DType type, ConstTensorView range,
                            ConstTensorView dy, bool accumulate, TensorView dx) {
  if (x.size() == 0) return;
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    with_quantised_type(type, [&]<class Q>(Type<Q>) {
      launch(context, "fake_quantise_backward", backward_kernel<T, Q>, blocks_for(x.size()), kThreads, 0,
             elements<T>(x), elements<T>(dy), x.size(), elements<float>(range), accumulate, elements<T>(dx));
    });
  });
}

}  // namespace podium::ops::cuda
