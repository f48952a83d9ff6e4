// Stands in for the toolkit's header: __half as storage with the conversions that kernels use.
#pragma once

#include "tests/cuda_shim/vector_types.h"
#include "worker/tensor/dtype.h"

struct __half {
  podium::Float16 stored;
};
struct __half2 {
  __half x, y;
};
inline float __half2float(__half value) { return podium::to_float(value.stored); }
inline __half __float2half_rn(float value) { return {podium::to_float16(value)}; }
inline __half2 __floats2half2_rn(float x, float y) { return {__float2half_rn(x), __float2half_rn(y)}; }
