// Element types and the 16-bit float conversions, written without branches so that loops over them vectorise
// on every instruction set. Both round to nearest even; what is too large for f16 becomes infinite; the quiet
// NaN that arithmetic makes stays a NaN.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace podium {

enum class DType { f32, bf16, f16, i32, i64, u8 };

std::size_t size_of(DType dtype);
std::string_view to_string(DType dtype);

// The upper half of an IEEE single.
struct BFloat16 {
  std::uint16_t bits = 0;
};

// IEEE half precision; storage only, arithmetic happens in f32.
struct Float16 {
  std::uint16_t bits = 0;
};

inline float to_float(float value) { return value; }
inline float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

inline BFloat16 to_bfloat16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16)};
}

inline float to_float(Float16 value) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(value.bits & 0x7fffU) << 13;
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000U) << 16;
  const std::uint32_t normal = magnitude + (112U << 23);   // the exponent's bias goes from 15 to 127
  const std::uint32_t special = magnitude + (224U << 23);  // infinity and NaN keep the highest exponent
  const float subnormal = std::bit_cast<float>(magnitude + (113U << 23)) - 0x1p-14F;
  std::uint32_t bits = magnitude >= (31U << 23) ? special : normal;
  bits = magnitude < (1U << 23) ? std::bit_cast<std::uint32_t>(subnormal) : bits;
  return std::bit_cast<float>(bits | sign);
}

inline Float16 to_float16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const std::uint32_t normal = (magnitude - (112U << 23) + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
  const float shifted = std::bit_cast<float>(magnitude) + 0.5F;  // rounds at a subnormal's last place, 2^-24
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - (126U << 23);
  const std::uint32_t special = magnitude > (255U << 23) ? 0x7e00U : 0x7c00U;
  std::uint32_t half = magnitude < (113U << 23) ? subnormal : normal;
  half = magnitude >= (143U << 23) ? special : half;
  return {static_cast<std::uint16_t>(half | (bits >> 16 & 0x8000U))};
}

template <class T>
T from_float(float value);
template <>
inline float from_float<float>(float value) {
  return value;
}
template <>
inline BFloat16 from_float<BFloat16>(float value) {
  return to_bfloat16(value);
}
template <>
inline Float16 from_float<Float16>(float value) {
  return to_float16(value);
}

template <class T>
inline constexpr DType dtype_of = DType::u8;
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::bf16;
template <>
inline constexpr DType dtype_of<Float16> = DType::f16;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::i32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::i64;

}  // namespace podium
