// Sums and maxima over the lanes of a warp and over a block, in a fixed order: the same bits in every run.
// Every thread of the warp or block must call them, and all receive the result.
#pragma once

#include "worker/ops/cuda/vector.cuh"

namespace podium::ops::cuda {

struct Sum {
  static constexpr float kIdentity = 0.0F;
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
  static constexpr float kIdentity = -3.0e38F;
  __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

template <class T, class Join>
__device__ __forceinline__ T reduce_warp(T value, Join join) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) value = join(value, __shfl_xor_sync(kAllLanes, value, lanes));
  return value;
}

// Over a block of kWarps whole warps.
template <int kWarps, class T, class Join>
__device__ __forceinline__ T reduce_block(T value, Join join) {
  value = reduce_warp(value, join);
  if constexpr (kWarps > 1) {
    __shared__ T of_warp[kWarps];
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = of_warp[0];
#pragma unroll
    for (int warp = 1; warp < kWarps; ++warp) value = join(value, of_warp[warp]);
    __syncthreads();  // the next reduction writes again
  }
  return value;
}

// Makes of a and of b their sums over a block, in one go. Of calls that follow each other without another
// barrier `parity` alternates, so that one barrier a call is enough.
template <int kWarps>
__device__ __forceinline__ void add_over_block(float& a, float& b, int parity) {
  a = reduce_warp(a, Sum{});
  b = reduce_warp(b, Sum{});
  if constexpr (kWarps > 1) {
    __shared__ float of_warp[2][2][kWarps];
    float(&own)[2][kWarps] = of_warp[parity];
    if (threadIdx.x % 32 == 0) {
      own[0][threadIdx.x / 32] = a;
      own[1][threadIdx.x / 32] = b;
    }
    __syncthreads();
    a = own[0][0];
    b = own[1][0];
#pragma unroll
    for (int warp = 1; warp < kWarps; ++warp) {
      a += own[0][warp];
      b += own[1][warp];
    }
  }
}

}  // namespace podium::ops::cuda
