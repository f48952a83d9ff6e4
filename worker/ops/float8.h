// Dense layers whose products run in FP8 (Micikevicius et al., "FP8 formats for deep learning", 2022): x and
// W in E4M3, dy in E5M2, sums in f32; y and dx in 16 bits, dW in f32.
//
// A matrix in FP8 has one scale:  x[r, c] ~ element[r, c] * scale.  The scale follows from the largest
// magnitude of this very matrix ("current scaling"), so nothing is carried from step to step, and a run that
// is resumed computes the same bits. It is a power of two: no bits are lost but those the elements lack.
// Where x holds an infinity or a NaN the scale is NaN, and so is everything made of it, so that an overflow
// is seen.
#pragma once

#include <bit>
#include <cstdint>

#include "worker/ops/linear.h"
#include "worker/tensor/arena.h"

namespace podium::ops {

// Matrix units read FP8 in vectors of 16 along the sum: what a dense layer has inputs and outputs a multiple
// of, and what the rows of a transposed matrix are filled up to with zeros.
inline constexpr std::int64_t kFloat8Multiple = 16;

struct Float8Scales {
  float multiply = 1.0F;  // x by this gives the elements
  float divide = 1.0F;    // its reciprocal, both powers of two
};

// For a matrix whose largest magnitude has these bits as an f32; `largest` is the type's. Zeros are treated
// like 2^-100. constexpr, so that device code may call it.
constexpr Float8Scales float8_scales(std::uint32_t largest_magnitude, float largest) {
  constexpr std::uint32_t kInfinity = 0x7f800000U, kNaN = 0x7fc00000U;
  constexpr std::uint32_t kLeast = std::bit_cast<std::uint32_t>(0x1p-100F);
  const std::uint32_t magnitude = largest_magnitude > kLeast ? largest_magnitude : kLeast;
  const float ratio = largest / std::bit_cast<float>(magnitude);
  const std::uint32_t power = std::bit_cast<std::uint32_t>(ratio) & kInfinity;  // without the mantissa
  const bool finite = magnitude < kInfinity;
  return {std::bit_cast<float>(finite ? power : kNaN),
          std::bit_cast<float>(finite ? (254U << 23) - power : kNaN)};
}

// In the context's memory. A layout without an address is not wanted.
struct Float8Matrix {
  TensorView by_rows;     // [rows, columns], e4m3 or e5m2
  TensorView by_columns;  // the transposed, [columns, rows filled up]
  TensorView scale;       // f32 [1]: Float8Scales::divide

  DType type() const { return by_rows.address != nullptr ? by_rows.dtype : by_columns.dtype; }
};

enum class Float8Layout { rows, columns, both };

Float8Matrix allocate_float8(Arena& arena, DType type, const Shape& shape, Float8Layout layout);

// x is f32 or of a 16-bit type, with a multiple of 16 columns.
void to_float8(Context& context, ConstTensorView x, const Float8Matrix& out);

// As in linear.h, for inputs and outputs that are multiples of 16; y and dx are bf16 or f16. x must be there
// by rows in forward and by columns in backward, dy by rows for dx and by columns for dW. The weight's FP8
// copies are made once a generation.
// float8_linear_prepare: as linear_prepare, for y of this type.
void float8_linear_prepare(Context& context, LinearWeight& weight, ConstTensorView bias, DType type);
void float8_linear_forward(Context& context, const Float8Matrix& x, LinearWeight& weight,
                           ConstTensorView bias, TensorView y);
void float8_linear_backward_input(Context& context, const Float8Matrix& dy, LinearWeight& weight,
                                  TensorView dx, const ProductOptions& options = {});
void float8_linear_backward_weight(Context& context, const Float8Matrix& x, const Float8Matrix& dy,
                                   TensorView dw);

// sums += the column sums of x [rows, columns], f32: a bias's gradient where the product's own op, which has
// dy in FP8, does not take it.
void add_column_sums(Context& context, ConstTensorView x, TensorView sums);

}  // namespace podium::ops
