// Rounding to the 8-bit types of worker/ops/quantised.h.
#pragma once

#include <cstdint>

#include "common/base/check.h"
#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/simd.h"
#include "worker/ops/quantised.h"

namespace podium::ops::cpu {

// body(Type<std::int8_t>{}) or body(Type<Float8E4M3>{})
template <class Body>
void with_quantised_type(DType dtype, const Body& body) {
  PODIUM_CHECK(is_quantised(dtype), "quantised tensors are of i8 or e4m3");
  if (dtype == DType::i8) return body(Type<std::int8_t>{});
  body(Type<Float8E4M3>{});
}

template <class Q>
Q quantised(float scaled);
template <>
PODIUM_INLINE std::int8_t quantised<std::int8_t>(float scaled) {
  const float limited = scaled < -128.0F ? -128.0F : scaled > 127.0F ? 127.0F : scaled;
  const float rounded = (limited + 12582912.0F) - 12582912.0F;  // 1.5 * 2^23: the fraction is rounded away
  return static_cast<std::int8_t>(static_cast<std::int32_t>(rounded));
}
template <>
PODIUM_INLINE Float8E4M3 quantised<Float8E4M3>(float scaled) {
  return to_float8_e4m3(scaled);
}

// to[i] = quantised(from[i] * inverse_scale), from f32, bf16 or f16 to i8 or e4m3.
template <class T, class Q>
void quantise_row(const T* from, std::int64_t count, float inverse_scale, Q* to);

// `from` is of a float type; both have `count` elements.
void quantise(const void* from, DType type, std::int64_t count, const QuantisedCopy& to, int threads);

}  // namespace podium::ops::cpu
