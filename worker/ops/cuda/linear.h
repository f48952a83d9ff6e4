// CUDA side of worker/ops/linear.h, and of float8.h's products.
#pragma once

#include "worker/ops/float8.h"

namespace podium::ops::cuda {

void prepare_weight(Context& context, LinearWeight& weight, DType type, std::int64_t columns);
void prepare_bias(Context& context, LinearWeight& weight, ConstTensorView bias, DType type,
                  std::int64_t columns);
void linear_forward(Context& context, ConstTensorView x, LinearWeight& weight, ConstTensorView bias,
                    TensorView y);
void linear_gelu_forward(Context& context, ConstTensorView x, LinearWeight& weight, ConstTensorView bias,
                         GeluKind kind, TensorView saved, TensorView y);
void linear_backward_input(Context& context, ConstTensorView dy, LinearWeight& weight, TensorView dx,
                           const ProductOptions& options);
void linear_backward_weight(Context& context, ConstTensorView x, ConstTensorView dy, TensorView dw,
                            TensorView db);

// `w`: the weight's current copies.
void float8_linear_forward(Context& context, const Float8Matrix& x, const Float8Matrix& w,
                           LinearWeight& weight, ConstTensorView bias, TensorView y);
void float8_linear_backward_input(Context& context, const Float8Matrix& dy, const Float8Matrix& w,
                                  TensorView dx, const ProductOptions& options);
void float8_linear_backward_weight(Context& context, const Float8Matrix& x, const Float8Matrix& dy,
                                   TensorView dw);

}  // namespace podium::ops::cuda
