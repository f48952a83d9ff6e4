// Element types and the conversions of the short floats, written without branches so that loops over them
// vectorise on every instruction set. All round to nearest even. What is too large for f16 becomes infinite;
// the 8-bit types saturate at their largest finite value, infinity too. A NaN stays one (in bf16 the quiet
// NaN that arithmetic makes).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace podium {

enum class DType { f32, bf16, f16, e4m3, e5m2, i32, i64, i8, u8 };

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

// The two types of the OCP 8-bit floating point specification (Micikevicius et al., "FP8 formats for deep
// learning", 2022). E4M3 has no infinity and one NaN of each sign, 0x7f and 0xff.
struct Float8E4M3 {
  static constexpr float kLargest = 448.0F;
  std::uint8_t bits = 0;
};

// The upper half of an IEEE half.
struct Float8E5M2 {
  static constexpr float kLargest = 57344.0F;
  std::uint8_t bits = 0;
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

inline float to_float(Float8E4M3 value) {
  const std::uint32_t code = value.bits & 0x7fU;
  const std::uint32_t magnitude = code << 20;
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x80U) << 24;
  const float subnormal = std::bit_cast<float>(magnitude + (121U << 23)) - 0x1p-6F;
  std::uint32_t bits = magnitude + (120U << 23);  // the exponent's bias goes from 7 to 127
  bits = code < 8 ? std::bit_cast<std::uint32_t>(subnormal) : bits;
  bits = code == 0x7f ? 0x7fc00000U : bits;
  return std::bit_cast<float>(bits | sign);
}

inline Float8E4M3 to_float8_e4m3(float value) {
  constexpr std::uint32_t kLargest = std::bit_cast<std::uint32_t>(Float8E4M3::kLargest);
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t unlimited = bits & 0x7fffffffU;
  const std::uint32_t magnitude = unlimited < kLargest ? unlimited : kLargest;
  const std::uint32_t normal = (magnitude - (120U << 23) + 0x7ffffU + ((magnitude >> 20) & 1U)) >> 20;
  const float shifted =
      std::bit_cast<float>(magnitude) + 0x1p14F;  // rounds at a subnormal's last place, 2^-9
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - (141U << 23);
  std::uint32_t code = magnitude < (121U << 23) ? subnormal : normal;
  code = unlimited > (255U << 23) ? 0x7fU : code;
  return {static_cast<std::uint8_t>(code | (bits >> 24 & 0x80U))};
}

inline float to_float(Float8E5M2 value) {
  return to_float(Float16{static_cast<std::uint16_t>(value.bits << 8)});
}

inline Float8E5M2 to_float8_e5m2(float value) {
  constexpr std::uint32_t kLargest = std::bit_cast<std::uint32_t>(Float8E5M2::kLargest);
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t unlimited = bits & 0x7fffffffU;
  const std::uint32_t magnitude = unlimited < kLargest ? unlimited : kLargest;
  const std::uint32_t normal = (magnitude - (112U << 23) + 0xfffffU + ((magnitude >> 21) & 1U)) >> 21;
  const float shifted =
      std::bit_cast<float>(magnitude) + 0x1p7F;  // rounds at a subnormal's last place, 2^-16
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - (134U << 23);
  std::uint32_t code = magnitude < (113U << 23) ? subnormal : normal;
  code = unlimited > (255U << 23) ? 0x7fU : code;
  return {static_cast<std::uint8_t>(code | (bits >> 24 & 0x80U))};
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
template <>
inline Float8E4M3 from_float<Float8E4M3>(float value) {
  return to_float8_e4m3(value);
}
template <>
inline Float8E5M2 from_float<Float8E5M2>(float value) {
  return to_float8_e5m2(value);
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
inline constexpr DType dtype_of<Float8E4M3> = DType::e4m3;
template <>
inline constexpr DType dtype_of<Float8E5M2> = DType::e5m2;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::i8;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::i32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::i64;

}  // namespace podium
