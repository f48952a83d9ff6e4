#include "worker/nn/parallel_linear.h"

namespace podium {

ColumnParallelLinear::ColumnParallelLinear(ParameterStore& store, const TensorGroup& tensor,
                                           const std::vector<std::string>& names, std::int64_t out,
                                           std::int64_t in, BiasGradient bias_gradient)
    : bias_by_(bias_gradient),
      linear_(store, tensor, names, out, in, {.split = LinearOptions::Split::outputs}) {}

void ColumnParallelLinear::forward(const Step& step, ConstTensorView x, TensorView y) {
  const ArenaScope scope(step.workspace);
  linear_.forward(step.context, step.tensor.all_rows(step.workspace, x), y);
}

void ColumnParallelLinear::backward(const Step& step, ConstTensorView x, ConstTensorView dy, TensorView dx,
                                    bool accumulate) {
  {
    const ArenaScope scope(step.workspace);
    const ConstTensorView x_all = step.tensor.all_rows(step.workspace, x);
    if (bias_by_ == BiasGradient::here)
      linear_.backward_weight(step.context, x_all, dy);
    else
      linear_.backward_weight_only(step.context, x_all, dy);
  }
  if (step.tensor.splits_rows()) {
    backward_own_rows(step, dy, dx, accumulate);
    return;
  }
  // What dx holds already must enter the sum once.
  linear_.backward_input(step.context, dy, dx, {.accumulate = accumulate && step.tensor.is_lead()});
  step.tensor.reduce(dx);
}

void ColumnParallelLinear::backward_own_rows(const Step& step, ConstTensorView dy, TensorView dx,
                                             bool accumulate) {
  const ArenaScope scope(step.workspace);
  const TensorView sum = accumulate ? step.temporary_own(dx.shape[1]) : dx;
  step.tensor.sum(step.workspace, sum,
                  [&](TensorView term) { linear_.backward_input(step.context, dy, term); });
  if (accumulate) ops::add_dropout(step.context, dx, sum, {});
}

RowParallelLinear::RowParallelLinear(ParameterStore& store, const TensorGroup& tensor,
                                     const std::string& name, std::int64_t out, std::int64_t in,
                                     double deviation, BiasGradient bias_gradient)
    : bias_by_(bias_gradient),
      linear_(store, tensor, {name}, out, in,
              {.split = LinearOptions::Split::inputs,
               .deviation = deviation,
               .partial_bias = bias_gradient == BiasGradient::behind && tensor.splits_rows()}) {}

void RowParallelLinear::forward(const Step& step, ConstTensorView x, TensorView y) {
  step.tensor.sum(step.workspace, y,
                  [&](TensorView term) { linear_.forward(step.context, x, term, step.tensor.is_lead()); });
}

void RowParallelLinear::backward(const Step& step, ConstTensorView x, ConstTensorView dy, TensorView dx,
                                 const ops::ProductOptions& options) {
  const ArenaScope scope(step.workspace);
  const ConstTensorView dy_all = step.tensor.all_rows(step.workspace, dy);
  if (bias_by_ == BiasGradient::here)
    linear_.backward_weight(step.context, x, dy_all);
  else
    linear_.backward_weight_only(step.context, x, dy_all);
  linear_.backward_input(step.context, dy_all, dx, options);
}

}  // namespace podium
