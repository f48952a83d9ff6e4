// Rounding to the 8-bit types of worker/ops/quantised.h on the device.
#pragma once

#ifdef __CUDACC__
#include <cuda_fp8.h>
#endif

#include "common/base/check.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/vector.cuh"
#include "worker/ops/quantised.h"

namespace podium::ops::cuda {

// body(Type<std::int8_t>{}) or body(Type<Float8E4M3>{})
template <class Body>
void with_quantised_type(DType dtype, const Body& body) {
  PODIUM_CHECK(is_quantised(dtype), "quantised tensors are of i8 or e4m3");
  if (dtype == DType::i8) return body(Type<std::int8_t>{});
  body(Type<Float8E4M3>{});
}

template <class Q>
__device__ __forceinline__ Q quantised(float scaled);
template <>
__device__ __forceinline__ std::int8_t quantised<std::int8_t>(float scaled) {
  return static_cast<std::int8_t>(rintf(fminf(fmaxf(scaled, -128.0F), 127.0F)));
}
template <>
__device__ __forceinline__ Float8E4M3 quantised<Float8E4M3>(float scaled) {
#ifdef __CUDACC__
  return {__nv_cvt_float_to_fp8(scaled, __NV_SATFINITE, __NV_E4M3)};
#else
  return to_float8_e4m3(scaled);
#endif
}

// Eight neighbouring elements, written together where they are at a multiple of 8 bytes.
template <class Q>
struct alignas(kVector) QuantisedPack {
  Q values[kVector];
};

// As store() of vector.cuh.
template <class Q>
__device__ __forceinline__ void store_quantised(Q* row, std::int64_t column, std::int64_t columns,
                                                float inverse_scale, const float (&in)[kVector]) {
  QuantisedPack<Q> pack;
#pragma unroll
  for (int i = 0; i < kVector; ++i) pack.values[i] = quantised<Q>(in[i] * inverse_scale);
  if (columns % kVector == 0 && column < columns) {
    *reinterpret_cast<QuantisedPack<Q>*>(row + column) = pack;
    return;
  }
#pragma unroll
  for (int i = 0; i < kVector; ++i)
    if (column + i < columns) row[column + i] = pack.values[i];
}

}  // namespace podium::ops::cuda
