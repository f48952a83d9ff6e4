// Stands in for the toolkit's header: __nv_bfloat16 as storage with the conversions that kernels use.
#pragma once

#include "tests/cuda_shim/vector_types.h"
#include "worker/tensor/dtype.h"

struct __nv_bfloat16 {
  podium::BFloat16 stored;
};
struct __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
inline float __bfloat162float(__nv_bfloat16 value) { return podium::to_float(value.stored); }
inline __nv_bfloat16 __float2bfloat16_rn(float value) { return {podium::to_bfloat16(value)}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)};
}
