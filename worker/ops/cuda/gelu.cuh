// GELU and its slope at one point; formulas in worker/ops/gelu.h. A kernel that leaves one of the two unused
// does not pay for it.
#pragma once

#include <cuda_runtime.h>

#include "worker/ops/gelu.h"

namespace podium::ops::cuda {

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

}  // namespace podium::ops::cuda
