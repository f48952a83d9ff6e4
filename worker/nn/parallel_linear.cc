#include "worker/nn/parallel_linear.h"

namespace podium {
namespace {

// In workspace memory.
ops::Float8Matrix to_float8(const PassContext& pass, ConstTensorView x, DType type,
                            ops::Float8Layout layout) {
  const ops::Float8Matrix matrix = ops::allocate_float8(pass.workspace, type, x.shape, layout);
  ops::to_float8(pass.context, x, matrix);
  return matrix;
}

void multiply(const PassContext& pass, Linear& linear, ConstTensorView x, TensorView y, bool add_bias) {
  if (!pass.fp8) return linear.forward(pass.context, x, y, add_bias);
  const ArenaScope scope(pass.workspace);
  linear.forward(pass.context, to_float8(pass, x, DType::e4m3, ops::Float8Layout::rows), y, add_bias);
}

// In workspace memory where it is converted.
OutputGradient output_gradient(const PassContext& pass, ConstTensorView dy) {
  if (!pass.fp8) return {dy, {}};
  return {dy, to_float8(pass, dy, DType::e5m2, ops::Float8Layout::both)};
}

void backward_weight(const PassContext& pass, Linear& linear, ConstTensorView x,
                     const OutputGradient& gradient, BiasGradient bias) {
  if (!pass.fp8) {
    if (bias == BiasGradient::here) return linear.backward_weight(pass.context, x, gradient.dy);
    return linear.backward_weight_only(pass.context, x, gradient.dy);
  }
  const ArenaScope scope(pass.workspace);
  linear.backward_weight_only(pass.context, to_float8(pass, x, DType::e4m3, ops::Float8Layout::columns),
                              gradient.in_float8);
  const TensorView sums = linear.bias_gradient();
  if (bias == BiasGradient::here && sums.address != nullptr)
    ops::add_column_sums(pass.context, gradient.dy, sums);
}

void backward_input(const PassContext& pass, Linear& linear, const OutputGradient& gradient, TensorView dx,
                    const ops::ProductOptions& options = {}) {
  if (pass.fp8) return linear.backward_input(pass.context, gradient.in_float8, dx, options);
  linear.backward_input(pass.context, gradient.dy, dx, options);
}

}  // namespace

ColumnParallelLinear::ColumnParallelLinear(ParameterStore& store, const TensorGroup& tensor,
                                           const std::vector<LinearPart>& parts, std::int64_t in, bool bias)
    : linear_(store, tensor, parts, in, {.split = LinearOptions::Split::outputs, .bias = bias, .fp8 = true}) {
}

void ColumnParallelLinear::forward(const PassContext& pass, ConstTensorView x, TensorView y) {
  const ArenaScope scope(pass.workspace);
  multiply(pass, linear_, pass.tensor.all_rows(pass.workspace, x), y, true);
}

void ColumnParallelLinear::gelu_forward(const PassContext& pass, ConstTensorView x, ops::GeluKind kind,
                                        TensorView saved, TensorView y) {
  if (pass.fp8) {
    forward(pass, x, saved);
    return ops::gelu_forward(pass.context, saved, y, kind);
  }
  const ArenaScope scope(pass.workspace);
  linear_.gelu_forward(pass.context, pass.tensor.all_rows(pass.workspace, x), kind, saved, y);
}

void ColumnParallelLinear::backward(const PassContext& pass, ConstTensorView x, ConstTensorView dy,
                                    TensorView dx, bool accumulate) {
  const ArenaScope scope(pass.workspace);
  const OutputGradient gradient = output_gradient(pass, dy);
  {
    const ArenaScope of_weight(pass.workspace);
    backward_weight(pass, linear_, pass.tensor.all_rows(pass.workspace, x), gradient, BiasGradient::behind);
  }
  if (pass.tensor.splits_rows()) {
    backward_own_rows(pass, gradient, dx, accumulate);
    return;
  }
  // What dx holds already must enter the sum once.
  backward_input(pass, linear_, gradient, dx, {.accumulate = accumulate && pass.tensor.is_lead()});
  pass.tensor.reduce(dx);
}

void ColumnParallelLinear::backward_own_rows(const PassContext& pass, const OutputGradient& dy, TensorView dx,
                                             bool accumulate) {
  const ArenaScope scope(pass.workspace);
  const TensorView sum = accumulate ? pass.temporary_own(dx.shape[1]) : dx;
  pass.tensor.sum(pass.workspace, sum, [&](TensorView term) { backward_input(pass, linear_, dy, term); });
  if (accumulate) ops::add_dropout(pass.context, dx, sum, {});
}

RowParallelLinear::RowParallelLinear(ParameterStore& store, const TensorGroup& tensor,
                                     const std::string& name, std::int64_t out, std::int64_t in,
                                     double deviation, bool bias, BiasGradient bias_gradient)
    : bias_by_(bias_gradient),
      linear_(store, tensor, {{name, out}}, in,
              {.split = LinearOptions::Split::inputs,
               .bias = bias,
               .deviation = deviation,
               .partial_bias = bias_gradient == BiasGradient::behind && tensor.splits_rows(),
               .fp8 = true}) {}

void RowParallelLinear::forward(const PassContext& pass, ConstTensorView x, TensorView y) {
  pass.tensor.sum(pass.workspace, y,
                  [&](TensorView term) { multiply(pass, linear_, x, term, pass.tensor.is_lead()); });
}

void RowParallelLinear::backward(const PassContext& pass, ConstTensorView x, ConstTensorView dy,
                                 TensorView dx, const ops::ProductOptions& options) {
  const ArenaScope scope(pass.workspace);
  const OutputGradient gradient = output_gradient(pass, pass.tensor.all_rows(pass.workspace, dy));
  backward_weight(pass, linear_, x, gradient, bias_by_);
  backward_input(pass, linear_, gradient, dx, options);
}

}  // namespace podium
