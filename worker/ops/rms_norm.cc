#include "worker/ops/rms_norm.h"

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {
namespace {

void check_shapes(const ConstTensorView& x, const RmsNormParameters& parameters,
                  const ConstTensorView& statistics) {
  PODIUM_CHECK(x.shape.rank() == 2, "RMSNorm works on [rows, columns]");
  check_tensor(parameters.gamma, DType::f32, Shape{x.shape[1]}, "gamma");
  PODIUM_CHECK(parameters.epsilon > 0, "an RMSNorm is given its family's epsilon");
  check_tensor(statistics, DType::f32, Shape{x.shape[0]}, "statistics");
}

void check_gradients(const ConstTensorView& x, const ConstTensorView& dy, const ConstTensorView& dx,
                     const ConstTensorView& dgamma, const ConstTensorView& dresidual) {
  check_tensor(dy, x.dtype, x.shape, "dy");
  check_tensor(dx, x.dtype, x.shape, "the gradient of what is normalised");
  check_tensor(dgamma, DType::f32, Shape{x.shape[1]}, "gamma's gradient");
  if (dresidual.address != nullptr) check_tensor(dresidual, x.dtype, x.shape, "dresidual");
}

}  // namespace

void rms_norm_forward(Context& context, ConstTensorView x, const RmsNormParameters& parameters, TensorView y,
                      TensorView statistics) {
  check_shapes(x, parameters, statistics);
  check_tensor(y, x.dtype, x.shape, "y");
  const ProfileScope scope(context, "rms_norm_forward", {.bytes = bytes_of(x, y)});
  backend(context).rms_norm_forward(context, x, parameters, y, statistics);
}

void rms_norm_backward(Context& context, ConstTensorView dy, ConstTensorView x, ConstTensorView statistics,
                       const RmsNormParameters& parameters, TensorView dx, TensorView dgamma,
                       ConstTensorView dresidual) {
  check_shapes(x, parameters, statistics);
  check_gradients(x, dy, dx, dgamma, dresidual);
  const ProfileScope scope(context, "rms_norm_backward", {.bytes = bytes_of(dy, x, dx, dresidual)});
  backend(context).rms_norm_backward(context, dy, x, statistics, parameters, dx, dgamma, dresidual);
}

void add_rms_norm_forward(Context& context, TensorView branch, ConstTensorView residual,
                          const Dropout& dropout, const RmsNormParameters& parameters, TensorView y,
                          TensorView statistics) {
  check_shapes(branch, parameters, statistics);
  check_tensor(residual, branch.dtype, branch.shape, "residual");
  check_tensor(y, branch.dtype, branch.shape, "y");
  check_dropout_rows(dropout, branch.shape[0]);
  const ProfileScope scope(context, "add_rms_norm_forward", {.bytes = bytes_of(branch, residual, branch, y)});
  backend(context).add_rms_norm_forward(context, branch, residual, dropout, parameters, y, statistics);
}

void add_rms_norm_backward(Context& context, ConstTensorView dy, ConstTensorView sum,
                           ConstTensorView statistics, const Dropout& dropout,
                           const RmsNormParameters& parameters, TensorView dsum, TensorView dbranch,
                           TensorView dgamma, ConstTensorView dresidual) {
  check_shapes(sum, parameters, statistics);
  check_gradients(sum, dy, dsum, dgamma, dresidual);
  check_tensor(dbranch, sum.dtype, sum.shape, "dbranch");
  check_dropout_rows(dropout, sum.shape[0]);
  const ProfileScope scope(context, "add_rms_norm_backward",
                           {.bytes = bytes_of(dy, sum, dsum, dbranch, dresidual)});
  backend(context).add_rms_norm_backward(context, dy, sum, statistics, dropout, parameters, dsum, dbranch,
                                         dgamma, dresidual);
}

}  // namespace podium::ops
