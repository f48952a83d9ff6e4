#include "worker/nn/parallel_linear.h"

#include "worker/nn/activation_ranges.h"

namespace podium {
namespace {

// In workspace memory.
ops::Float8Matrix to_float8(const PassContext& pass, ConstTensorView x, DType type,
                            ops::Float8Layout layout) {
  const ops::Float8Matrix matrix = ops::allocate_float8(pass.workspace, type, x.shape, layout);
  ops::to_float8(pass.context, x, matrix);
  return matrix;
}

// What the product reads: x, or where the model rounds it a tensor in workspace memory.
ConstTensorView input_in_forward(const PassContext& pass, int product, ConstTensorView x) {
  return pass.ranges == nullptr ? x : pass.ranges->forward(pass, product, x);
}
ConstTensorView input_in_backward(const PassContext& pass, int product, ConstTensorView x) {
  return pass.ranges == nullptr ? x : pass.ranges->rounded(pass, product, x);
}
bool rounds(const PassContext& pass) { return pass.ranges != nullptr && pass.ranges->known(); }

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
                                           const std::vector<LinearPart>& parts, std::int64_t in, bool bias,
                                           int product)
    : product_(product),
      linear_(store, tensor, parts, in,
              {.split = LinearOptions::Split::outputs, .bias = bias, .of_layer = true}) {}

void ColumnParallelLinear::forward(const PassContext& pass, ConstTensorView x, TensorView y) {
  const ArenaScope scope(pass.workspace);
  const ConstTensorView all = pass.tensor.all_rows(pass.workspace, x);
  multiply(pass, linear_, input_in_forward(pass, product_, all), y, true);
}

void ColumnParallelLinear::gelu_forward(const PassContext& pass, ConstTensorView x, ops::GeluKind kind,
                                        TensorView saved, TensorView y) {
  if (pass.fp8) {
    forward(pass, x, saved);
    return ops::gelu_forward(pass.context, saved, y, kind);
  }
  const ArenaScope scope(pass.workspace);
  const ConstTensorView all = pass.tensor.all_rows(pass.workspace, x);
  linear_.gelu_forward(pass.context, input_in_forward(pass, product_, all), kind, saved, y);
}

void ColumnParallelLinear::backward(const PassContext& pass, ConstTensorView x, ConstTensorView dy,
                                    TensorView dx, bool accumulate) {
  const ArenaScope scope(pass.workspace);
  const OutputGradient gradient = output_gradient(pass, dy);
  {
    const ArenaScope of_weight(pass.workspace);
    const ConstTensorView all = pass.tensor.all_rows(pass.workspace, x);
    backward_weight(pass, linear_, input_in_backward(pass, product_, all), gradient, BiasGradient::behind);
  }
  if (rounds(pass)) return backward_rounded(pass, x, gradient, dx, accumulate);
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

void ColumnParallelLinear::backward_rounded(const PassContext& pass, ConstTensorView x,
                                            const OutputGradient& dy, TensorView dx, bool accumulate) {
  const TensorView sum = pass.temporary_own(dx.shape[1]);
  pass.tensor.sum(pass.workspace, sum, [&](TensorView term) { backward_input(pass, linear_, dy, term); });
  pass.ranges->backward(pass, product_, x, sum, accumulate, dx);
}

RowParallelLinear::RowParallelLinear(ParameterStore& store, const TensorGroup& tensor,
                                     const std::string& name, std::int64_t out, std::int64_t in,
                                     double deviation, bool bias, BiasGradient bias_gradient, int product)
    : bias_by_(bias_gradient),
      product_(product),
      linear_(store, tensor, {{name, out}}, in,
              {.split = LinearOptions::Split::inputs,
               .bias = bias,
               .deviation = deviation,
               .partial_bias = bias_gradient == BiasGradient::behind && tensor.splits_rows(),
               .of_layer = true}) {}

void RowParallelLinear::forward(const PassContext& pass, ConstTensorView x, TensorView y) {
  const ArenaScope scope(pass.workspace);
  const ConstTensorView input = input_in_forward(pass, product_, x);
  pass.tensor.sum(pass.workspace, y,
                  [&](TensorView term) { multiply(pass, linear_, input, term, pass.tensor.is_lead()); });
}

void RowParallelLinear::backward(const PassContext& pass, ConstTensorView x, ConstTensorView dy,
                                 TensorView dx, const ops::ProductOptions& options) {
  const ArenaScope scope(pass.workspace);
  const OutputGradient gradient = output_gradient(pass, pass.tensor.all_rows(pass.workspace, dy));
  {
    const ArenaScope of_weight(pass.workspace);
    backward_weight(pass, linear_, input_in_backward(pass, product_, x), gradient, bias_by_);
  }
  if (rounds(pass)) return backward_rounded(pass, x, gradient, dx, options);
  backward_input(pass, linear_, gradient, dx, options);
}

// Rounding stands between the product and the GELU, which are then ops of their own.
void RowParallelLinear::backward_rounded(const PassContext& pass, ConstTensorView x, const OutputGradient& dy,
                                         TensorView dx, const ops::ProductOptions& options) {
  const TensorView dproduct = pass.workspace.allocate(dx.dtype, dx.shape);
  backward_input(pass, linear_, dy, dproduct);
  pass.ranges->backward(pass, product_, x, dproduct, options.accumulate, dx);
  if (options.gelu.values.address != nullptr) ops::gelu_backward(pass.context, options.gelu, dx);
  if (options.column_sums.address != nullptr) ops::add_column_sums(pass.context, dx, options.column_sums);
}

}  // namespace podium
