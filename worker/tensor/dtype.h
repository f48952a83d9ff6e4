// Element types and the 16-bit float conversions. f32 to bf16 rounds to nearest even; the quiet NaN
// that arithmetic makes stays a NaN.
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
