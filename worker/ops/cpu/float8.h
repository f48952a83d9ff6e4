// CPU side of worker/ops/float8.h, the reference: the elements are widened and multiplied exactly, then
// summed in f32.
#pragma once

#include "worker/ops/float8.h"

namespace podium::ops::cpu {

void to_float8(Context& context, ConstTensorView x, const Float8Matrix& out);

// `w`: the weight's current copies.
void float8_linear_forward(Context& context, const Float8Matrix& x, const Float8Matrix& w,
                           ConstTensorView bias, TensorView y);
void float8_linear_backward_input(Context& context, const Float8Matrix& dy, const Float8Matrix& w,
                                  TensorView dx, const ProductOptions& options);
void float8_linear_backward_weight(Context& context, const Float8Matrix& x, const Float8Matrix& dy,
                                   TensorView dw);

}  // namespace podium::ops::cpu
