// A dense layer: x [rows, in], weight [out, in] and bias [out] in f32 masters, y [rows, out].
//
//   y = x W^T + b        dx = dy W        dW += dy^T x        db += column sums of dy
//
// x, y, dx and dy share one type; sums run in f32.
//
// On a device y and dy in 16 bits may have more columns than the weight has rows, so that each row begins at
// an aligned address (logits over a vocabulary of any size). What is beyond becomes 0 in y and must be 0 in
// dy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "worker/ops/gelu.h"
#include "worker/ops/stochastic_rounding.h"
#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

// A back end's converted copies of a weight matrix.
struct PackedWeight {
  virtual ~PackedWeight() = default;
};

// A weight matrix together with its converted copies, which are renewed when `generation` has moved on.
struct LinearWeight {
  ConstTensorView master;  // f32 [out, in]
  // Of the master and the bias that it is used with: changes whenever their values do.
  std::int64_t generation = 0;
  std::unique_ptr<PackedWeight> packed;
  std::optional<StochasticRounding> rounding = {};  // of 16-bit copies, else to nearest even; FP8's always is
  std::unique_ptr<PackedWeight> float8 = nullptr;   // of float8.h
  // On a device, where somebody else keeps them: master and bias in 16 bits, of this generation.
  ConstTensorView narrowed = {};
  ConstTensorView narrowed_bias = {};
};

struct ProductOptions {
  bool accumulate = false;  // add to dx instead of replacing it
  // Where given, like dx: dx = (dy W) * the slope of this GELU, from which the layer's x came.
  SavedGelu gelu = {};
  // Where given, f32 [in]: the column sums of the finished dx are added, the gradient of the bias before a
  // GELU.
  TensorView column_sums = {};
};

// to = from, f32, rounded to nearest even to the 16-bit type of `to`. On a device alone.
void narrow_weights(Context& context, ConstTensorView from, TensorView to);

// Renews the copies that products with y or dy of `columns` columns and this type make of weight and bias.
// Work that is recorded must find them renewed; else every product renews what it finds outdated.
void linear_prepare(Context& context, LinearWeight& weight, ConstTensorView bias, DType type,
                    std::int64_t columns);

// `bias` without an address: none.
void linear_forward(Context& context, ConstTensorView x, LinearWeight& weight, ConstTensorView bias,
                    TensorView y);
// y = gelu(x W^T + b); `saved`, like y, becomes what SavedGelu holds. The GELU is the product's end where the
// library that multiplies has it so (GPT-2's, cuBLASLt, 16 bits): nothing but y and `saved` passes through
// memory.
void linear_gelu_forward(Context& context, ConstTensorView x, LinearWeight& weight, ConstTensorView bias,
                         GeluKind kind, TensorView saved, TensorView y);
void linear_backward_input(Context& context, ConstTensorView dy, LinearWeight& weight, TensorView dx,
                           const ProductOptions& options = {});
// `db` without an address: not wanted.
void linear_backward_weight(Context& context, ConstTensorView x, ConstTensorView dy, TensorView dw,
                            TensorView db);

}  // namespace podium::ops
