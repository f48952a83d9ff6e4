// Rounding of f32 weights to 16 bits up or down at random, up with the probability of the distance from
// below, so that what falls between two values is right on average (Gupta et al., "Deep learning with limited
// numerical precision", 2015). The draws come from Philox: a function of (key, parameter, element within the
// whole parameter) alone, the same on any layout and back end.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "worker/tensor/dtype.h"
#include "worker/tensor/random.h"

namespace podium::ops {

// Rows of a matrix that belong to one parameter: element [row, column] is number
// first + row * pitch + column of the whole parameter.
struct RoundedPart {
  std::uint64_t parameter = 0;  // what its name hashes to
  std::int64_t rows = 0;
  std::int64_t first = 0;
  std::int64_t pitch = 0;
};

// Of a weight matrix: its parts, one below the other.
struct StochasticRounding {
  PhiloxKey key;  // of one seed and step
  std::vector<RoundedPart> parts;
};

// Each draw of 128 bits rounds eight neighbouring elements, from a multiple of eight on.
inline constexpr std::int64_t kRoundedTogether = 8;

constexpr PhiloxCounter rounding_draws(PhiloxKey key, std::uint64_t parameter, std::int64_t element) {
  const auto group = static_cast<std::uint64_t>(element / kRoundedTogether);
  return philox(key, {static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(group >> 32),
                      static_cast<std::uint32_t>(parameter), static_cast<std::uint32_t>(parameter >> 32)});
}
// The 16 bits of the i-th of eight.
constexpr std::uint32_t rounding_draw(const PhiloxCounter& draws, int i) {
  return draws[static_cast<std::size_t>(i / 2)] >> (i % 2 * 16) & 0xffffU;
}

// The bits of the value's neighbour in bf16: the draw is added to the 16 bits that are dropped.
constexpr std::uint16_t stochastic_bfloat16(float value, std::uint32_t draw) {
  return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(value) + draw) >> 16);
}

// And in f16, which drops 13 bits; below 2^-14 its values are 2^-24 apart. What is too large becomes
// infinite.
constexpr std::uint16_t stochastic_float16(float value, std::uint32_t draw) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const std::uint32_t normal = (magnitude - (112U << 23) + (draw >> 3)) >> 13;
  const bool is_subnormal = magnitude < (113U << 23);
  const float steps = is_subnormal ? std::bit_cast<float>(magnitude) * 0x1p24F : 0.0F;
  const auto below = static_cast<std::uint32_t>(steps);
  const auto fraction = static_cast<std::uint32_t>((steps - static_cast<float>(below)) * 0x1p16F);
  const std::uint32_t subnormal = below + ((fraction + draw) >> 16);
  const std::uint32_t special = magnitude > (255U << 23) ? 0x7e00U : 0x7c00U;
  std::uint32_t half = is_subnormal ? subnormal : normal;
  half = magnitude >= (143U << 23) ? special : half;
  return static_cast<std::uint16_t>(half | (bits >> 16 & 0x8000U));
}

}  // namespace podium::ops
