#include "worker/nn/parallel_linear.h"

namespace podium {
namespace {

// In workspace memory.
ops::Float8Matrix to_float8(const Step& step, ConstTensorView x, DType type, ops::Float8Layout layout) {
  const ops::Float8Matrix matrix = ops::allocate_float8(step.workspace, type, x.shape, layout);
  ops::to_float8(step.context, x, matrix);
  return matrix;
}

void multiply(const Step& step, Linear& linear, ConstTensorView x, TensorView y, bool add_bias) {
  if (!step.fp8) return linear.forward(step.context, x, y, add_bias);
  const ArenaScope scope(step.workspace);
  linear.forward(step.context, to_float8(step, x, DType::e4m3, ops::Float8Layout::rows), y, add_bias);
}

// In workspace memory where it is converted.
OutputGradient output_gradient(const Step& step, ConstTensorView dy) {
  if (!step.fp8) return {dy, {}};
  return {dy, to_float8(step, dy, DType::e5m2, ops::Float8Layout::both)};
}

void backward_weight(const Step& step, Linear& linear, ConstTensorView x, const OutputGradient& gradient,
                     BiasGradient bias) {
  if (!step.fp8) {
    if (bias == BiasGradient::here) return linear.backward_weight(step.context, x, gradient.dy);
    return linear.backward_weight_only(step.context, x, gradient.dy);
  }
  const ArenaScope scope(step.workspace);
  linear.backward_weight_only(step.context, to_float8(step, x, DType::e4m3, ops::Float8Layout::columns),
                              gradient.in_float8);
  if (bias == BiasGradient::here) ops::add_column_sums(step.context, gradient.dy, linear.bias_gradient());
}

void backward_input(const Step& step, Linear& linear, const OutputGradient& gradient, TensorView dx,
                    const ops::ProductOptions& options = {}) {
  if (step.fp8) return linear.backward_input(step.context, gradient.in_float8, dx, options);
  linear.backward_input(step.context, gradient.dy, dx, options);
}

}  // namespace

ColumnParallelLinear::ColumnParallelLinear(ParameterStore& store, const TensorGroup& tensor,
                                           const std::vector<std::string>& names, std::int64_t out,
                                           std::int64_t in)
    : linear_(store, tensor, names, out, in, {.split = LinearOptions::Split::outputs, .fp8 = true}) {}

void ColumnParallelLinear::forward(const Step& step, ConstTensorView x, TensorView y) {
  const ArenaScope scope(step.workspace);
  multiply(step, linear_, step.tensor.all_rows(step.workspace, x), y, true);
}

void ColumnParallelLinear::gelu_forward(const Step& step, ConstTensorView x, ops::GeluKind kind,
                                        TensorView saved, TensorView y) {
  if (step.fp8) {
    forward(step, x, saved);
    return ops::gelu_forward(step.context, saved, y, kind);
  }
  const ArenaScope scope(step.workspace);
  linear_.gelu_forward(step.context, step.tensor.all_rows(step.workspace, x), kind, saved, y);
}

void ColumnParallelLinear::backward(const Step& step, ConstTensorView x, ConstTensorView dy, TensorView dx,
                                    bool accumulate) {
  const ArenaScope scope(step.workspace);
  const OutputGradient gradient = output_gradient(step, dy);
  {
    const ArenaScope of_weight(step.workspace);
    backward_weight(step, linear_, step.tensor.all_rows(step.workspace, x), gradient, BiasGradient::behind);
  }
  if (step.tensor.splits_rows()) {
    backward_own_rows(step, gradient, dx, accumulate);
    return;
  }
  // What dx holds already must enter the sum once.
  backward_input(step, linear_, gradient, dx, {.accumulate = accumulate && step.tensor.is_lead()});
  step.tensor.reduce(dx);
}

void ColumnParallelLinear::backward_own_rows(const Step& step, const OutputGradient& dy, TensorView dx,
                                             bool accumulate) {
  const ArenaScope scope(step.workspace);
  const TensorView sum = accumulate ? step.temporary_own(dx.shape[1]) : dx;
  step.tensor.sum(step.workspace, sum, [&](TensorView term) { backward_input(step, linear_, dy, term); });
  if (accumulate) ops::add_dropout(step.context, dx, sum, {});
}

RowParallelLinear::RowParallelLinear(ParameterStore& store, const TensorGroup& tensor,
                                     const std::string& name, std::int64_t out, std::int64_t in,
                                     double deviation, BiasGradient bias_gradient)
    : bias_by_(bias_gradient),
      linear_(store, tensor, {name}, out, in,
              {.split = LinearOptions::Split::inputs,
               .deviation = deviation,
               .partial_bias = bias_gradient == BiasGradient::behind && tensor.splits_rows(),
               .fp8 = true}) {}

void RowParallelLinear::forward(const Step& step, ConstTensorView x, TensorView y) {
  step.tensor.sum(step.workspace, y,
                  [&](TensorView term) { multiply(step, linear_, x, term, step.tensor.is_lead()); });
}

void RowParallelLinear::backward(const Step& step, ConstTensorView x, ConstTensorView dy, TensorView dx,
                                 const ops::ProductOptions& options) {
  const ArenaScope scope(step.workspace);
  const OutputGradient gradient = output_gradient(step, step.tensor.all_rows(step.workspace, dy));
  backward_weight(step, linear_, x, gradient, bias_by_);
  backward_input(step, linear_, gradient, dx, options);
}

}  // namespace podium
