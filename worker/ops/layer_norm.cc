#include "worker/ops/layer_norm.h"

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {
namespace {

void check_shapes(const ConstTensorView& x, const LayerNormParameters& parameters,
                  const ConstTensorView& statistics) {
  check_layer_norm(x, parameters);
  check_tensor(statistics, DType::f32, Shape{x.shape[0], 2}, "statistics");
}

void check_gradients(const ConstTensorView& x, const LayerNormGradients& gradients) {
  check_tensor(gradients.gamma, DType::f32, Shape{x.shape[1]}, "gamma's gradient");
  check_tensor(gradients.beta, DType::f32, Shape{x.shape[1]}, "beta's gradient");
}

void check_residual(const ConstTensorView& x, const ConstTensorView& dresidual) {
  if (dresidual.address != nullptr) check_tensor(dresidual, x.dtype, x.shape, "dresidual");
}

}  // namespace

void check_layer_norm(const ConstTensorView& x, const LayerNormParameters& parameters) {
  PODIUM_CHECK(x.shape.rank() == 2, "layer norm works on [rows, columns]");
  check_tensor(parameters.gamma, DType::f32, Shape{x.shape[1]}, "gamma");
  check_tensor(parameters.beta, DType::f32, Shape{x.shape[1]}, "beta");
  PODIUM_CHECK(parameters.epsilon > 0, "a layer norm is given its family's epsilon");
}

void layer_norm_forward(Context& context, ConstTensorView x, const LayerNormParameters& parameters,
                        TensorView y, TensorView statistics) {
  check_shapes(x, parameters, statistics);
  check_tensor(y, x.dtype, x.shape, "y");
  const ProfileScope scope(context, "layer_norm_forward", {.bytes = bytes_of(x, y)});
  backend(context).layer_norm_forward(context, x, parameters, y, statistics);
}

void layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView x, ConstTensorView statistics,
                         const LayerNormParameters& parameters, TensorView dx,
                         const LayerNormGradients& gradients, ConstTensorView dresidual) {
  check_shapes(x, parameters, statistics);
  check_gradients(x, gradients);
  check_tensor(dy, x.dtype, x.shape, "dy");
  check_tensor(dx, x.dtype, x.shape, "dx");
  check_residual(x, dresidual);
  PODIUM_CHECK(gradients.branch_bias.address == nullptr, "a layer norm alone follows no branch");
  const ProfileScope scope(context, "layer_norm_backward", {.bytes = bytes_of(dy, x, dx, dresidual)});
  backend(context).layer_norm_backward(context, dy, x, statistics, parameters, dx, gradients, dresidual);
}

void add_layer_norm_forward(Context& context, TensorView branch, ConstTensorView residual,
                            const Dropout& dropout, const LayerNormParameters& parameters, TensorView y,
                            TensorView statistics) {
  check_shapes(branch, parameters, statistics);
  check_tensor(residual, branch.dtype, branch.shape, "residual");
  check_tensor(y, branch.dtype, branch.shape, "y");
  check_dropout_rows(dropout, branch.shape[0]);
  const ProfileScope scope(context, "add_layer_norm_forward",
                           {.bytes = bytes_of(branch, residual, branch, y)});
  backend(context).add_layer_norm_forward(context, branch, residual, dropout, parameters, y, statistics);
}

void add_layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView sum,
                             ConstTensorView statistics, const Dropout& dropout,
                             const LayerNormParameters& parameters, TensorView dsum, TensorView dbranch,
                             const LayerNormGradients& gradients, ConstTensorView dresidual) {
  check_shapes(sum, parameters, statistics);
  check_gradients(sum, gradients);
  check_tensor(dy, sum.dtype, sum.shape, "dy");
  check_tensor(dsum, sum.dtype, sum.shape, "dsum");
  check_tensor(dbranch, sum.dtype, sum.shape, "dbranch");
  check_residual(sum, dresidual);
  check_dropout_rows(dropout, sum.shape[0]);
  if (gradients.branch_bias.address != nullptr)
    check_tensor(gradients.branch_bias, DType::f32, Shape{sum.shape[1]}, "the branch bias's gradient");
  const ProfileScope scope(context, "add_layer_norm_backward",
                           {.bytes = bytes_of(dy, sum, dsum, dbranch, dresidual)});
  backend(context).add_layer_norm_backward(context, dy, sum, statistics, dropout, parameters, dsum, dbranch,
                                           gradients, dresidual);
}

}  // namespace podium::ops
