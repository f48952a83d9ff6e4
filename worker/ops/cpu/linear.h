// CPU side of worker/ops/linear.h.
#pragma once

#include "worker/ops/linear.h"

namespace podium::ops::cpu {

void linear_forward(Context& context, ConstTensorView x, LinearWeight& weight, ConstTensorView bias,
                    TensorView y);
void linear_backward_input(Context& context, ConstTensorView dy, LinearWeight& weight, TensorView dx,
                           const ProductOptions& options);
void linear_backward_weight(Context& context, ConstTensorView x, ConstTensorView dy, TensorView dw,
                            TensorView db);

// sums += the column sums of x.
void add_column_sums(Context& context, ConstTensorView x, TensorView sums);

}  // namespace podium::ops::cpu
