// Eight FP8 elements at a time, rounded to nearest even and saturating, by the device's own instruction (from
// sm_89 on; the toolkit's header computes them elsewhere); on the host by the worker's conversions.
#pragma once

#ifdef __CUDACC__
#include <cuda_fp8.h>
#endif

#include "worker/ops/cuda/vector.cuh"
#include "worker/tensor/dtype.h"

namespace podium::ops::cuda {

// Two elements, the first in the lower byte.
template <class Element>
__device__ __forceinline__ unsigned float8_pair(float first, float second) {
#ifdef __CUDACC__
  constexpr auto kFormat = dtype_of<Element> == DType::e4m3 ? __NV_E4M3 : __NV_E5M2;
  return __nv_cvt_float2_to_fp8x2(make_float2(first, second), __NV_SATFINITE, kFormat);
#else
  return from_float<Element>(first).bits | unsigned{from_float<Element>(second).bits} << 8;
#endif
}

// values * multiply, in their order.
template <class Element>
__device__ __forceinline__ uint2 float8_elements(const float (&values)[kVector], float multiply) {
  unsigned pairs[kVector / 2];
#pragma unroll
  for (int i = 0; i < kVector / 2; ++i)
    pairs[i] = float8_pair<Element>(values[2 * i] * multiply, values[2 * i + 1] * multiply);
  return make_uint2(pairs[0] | pairs[1] << 16, pairs[2] | pairs[3] << 16);
}

}  // namespace podium::ops::cuda
