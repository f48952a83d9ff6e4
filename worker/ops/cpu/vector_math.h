// Elementary functions that vectorise: no branches, no calls, f32 throughout.
#pragma once

#include <bit>
#include <cstdint>

#include "worker/ops/cpu/simd.h"
#include "worker/tensor/dtype.h"

namespace podium::ops::cpu {

// e^x within 2 units in the last place: x = n ln 2 + r, a polynomial in r (Cephes' expf), times 2^n.
// Below -87 the result is the smallest normal number, above 88 it stays finite.
PODIUM_INLINE float fast_exp(float x) {
  x = x < -87.0F ? -87.0F : x;
  x = x > 88.0F ? 88.0F : x;
  const float shifted = x * 1.44269504088896341F + 12582912.0F;  // 1.5 * 2^23: the fraction is rounded away
  const float n = shifted - 12582912.0F;
  const float r = (x - n * 0.693359375F) - n * -2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  const std::int32_t exponent = std::bit_cast<std::int32_t>(shifted) << 23;
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(p) + exponent);
}

// erf(x) within 1.5e-7 (Abramowitz and Stegun, 7.1.26) and, as it falls out, e^(-x^2).
struct ErfExp {
  float erf;
  float exp;
};
PODIUM_INLINE ErfExp fast_erf(float x) {
  const float magnitude = x < 0.0F ? -x : x;
  const float t = 1.0F / (1.0F + 0.3275911F * magnitude);
  const float e = fast_exp(-x * x);
  float p = 1.061405429F;
  p = p * t - 1.453152027F;
  p = p * t + 1.421413741F;
  p = p * t - 0.284496736F;
  p = p * t + 0.254829592F;
  const float positive = 1.0F - p * t * e;
  return {x < 0.0F ? -positive : positive, e};
}

}  // namespace podium::ops::cpu
