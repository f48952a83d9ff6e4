// A dense layer for inference: a product whose weights never change, with everything that follows it.
//
//   v = activation((sum_k x[r, k] w[o, k]) * scales[o] + bias[o]) + residual[r, o]
//   y = v rounded to y's type, or where y is 8 bits wide: saturate(round to nearest even(v / y_scale))
//
// x [rows, in], y and residual [rows, out]. x may be f32, bf16, f16, i8 or e4m3; sums run in f32, those of i8
// in i32. Sparse weights are 2:4: of each four neighbouring inputs two are kept (Mishra et al., "Accelerating
// Sparse Deep Neural Networks", 2021).
#pragma once

#include <memory>

#include "worker/ops/linear.h"
#include "worker/ops/quantised.h"
#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

enum class Activation { none, gelu, gelu_tanh };  // gelu with the error function; formulas in gelu.h

// The views must stay as they are; what a back end makes of them is kept in `packed`, unless it is made anew
// for each product: where few products have many rows, the weights are then in memory once.
struct InferenceWeight {
  // Of x's type: [out, in], or where positions are given [out, in / 2], the kept ones in their order.
  ConstTensorView values;
  // u8 [out, in / 8]: a nibble for each group of four inputs, the first group's the lower one; in it, two
  // bits each, where in the group the kept ones stand, the first one's the lower bits. The second's is the
  // larger.
  ConstTensorView positions = {};
  ConstTensorView scales = {};  // f32 [out], of i8 and e4m3 alone: the weight's scale times x's
  ConstTensorView bias = {};    // f32 [out]; without an address: none
  std::unique_ptr<PackedWeight> packed = nullptr;
  bool keeps_packed = true;

  std::int64_t out() const { return values.shape[0]; }
  std::int64_t in() const { return values.shape[1] * (positions.address == nullptr ? 1 : 2); }
};

struct InferenceEpilogue {
  Activation activation = Activation::none;
  ConstTensorView residual = {};  // of y's type, which then is no 8-bit one; may be y
  float y_scale = 1.0F;           // of y in i8 or e4m3
};

// On the CPU a row of up to so many, in a floating type and with a dense weight, is the same bits whatever
// stands beside it, and with any number of threads.
inline constexpr std::int64_t kMostLoneRows = 64;

// y is f32, bf16, f16, i8 or e4m3.
void inference_linear(Context& context, ConstTensorView x, InferenceWeight& weight,
                      const InferenceEpilogue& epilogue, TensorView y);

}  // namespace podium::ops
