// Stands in for the toolkit's header: __nv_bfloat16 as storage with the conversions that kernels use.
#pragma once

#include "tests/cuda_shim/vector_types.h"
#include "worker/tensor/dtype.h"

struct __nv_bfloat16 {
  podium::BFloat16 stored;
};
inline float __bfloat162float(__nv_bfloat16 value) { return podium::to_float(value.stored); }
inline __nv_bfloat16 __float2bfloat16_rn(float value) { return {podium::to_bfloat16(value)}; }
