// Stands in for the toolkit's header: __half as storage with the conversions that kernels use.
#pragma once

#include "tests/cuda_shim/vector_types.h"
#include "worker/tensor/dtype.h"

struct __half {
  podium::Float16 stored;
};
inline float __half2float(__half value) { return podium::to_float(value.stored); }
inline __half __float2half_rn(float value) { return {podium::to_float16(value)}; }
