// RMSNorm (Zhang and Sennrich, 2019) over the rows of x [rows, columns]: layer normalisation without the mean
// and without a bias; statistics and sums in f32.
//
//   y = x_hat * gamma,  x_hat = x * inverse_rms,  inverse_rms = 1 / sqrt(mean(x^2) + epsilon)
//   g = dy * gamma;  dx = inverse_rms * (g - x_hat * mean(g * x_hat)) + dresidual
#pragma once

#include "worker/ops/dropout.h"
#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

struct RmsNormParameters {
  ConstTensorView gamma;  // f32 [columns]
  float epsilon = 0;      // to be given, and positive
};

// y may be x. statistics f32 [rows]: the inverse root mean squares, kept for backward.
void rms_norm_forward(Context& context, ConstTensorView x, const RmsNormParameters& parameters, TensorView y,
                      TensorView statistics);
// Adds to dgamma, f32 [columns]. dx may be dy. Where x also goes on by a residual connection, dresidual is
// that connection's gradient, which is added to dx and may be dx; without an address there is none.
void rms_norm_backward(Context& context, ConstTensorView dy, ConstTensorView x, ConstTensorView statistics,
                       const RmsNormParameters& parameters, TensorView dx, TensorView dgamma,
                       ConstTensorView dresidual = {});

// The end of a sub-layer in one pass: branch becomes residual + dropout(branch), y its norm.
void add_rms_norm_forward(Context& context, TensorView branch, ConstTensorView residual,
                          const Dropout& dropout, const RmsNormParameters& parameters, TensorView y,
                          TensorView statistics);
// `sum` is what forward left in branch. dsum, which may be dy or dresidual, is the residual's gradient;
// dbranch the branch's. dresidual as above.
void add_rms_norm_backward(Context& context, ConstTensorView dy, ConstTensorView sum,
                           ConstTensorView statistics, const Dropout& dropout,
                           const RmsNormParameters& parameters, TensorView dsum, TensorView dbranch,
                           TensorView dgamma, ConstTensorView dresidual = {});

}  // namespace podium::ops
