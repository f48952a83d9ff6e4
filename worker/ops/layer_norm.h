// Layer normalisation (Ba et al., 2016) over the rows of x [rows, columns]; statistics and sums in f32.
//
//   y = (x - mean) * inverse_deviation * gamma + beta
//   g = dy * gamma;  dx = inverse_deviation * (g - mean(g) - x_hat * mean(g * x_hat))
#pragma once

#include "worker/ops/dropout.h"
#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

inline constexpr float kLayerNormEpsilon = 1e-12F;  // BERT's

struct LayerNormParameters {
  ConstTensorView gamma;  // f32 [columns]
  ConstTensorView beta;
};

struct LayerNormGradients {
  TensorView gamma;  // f32 [columns], added to
  TensorView beta;
};

// statistics f32 [rows, 2]: mean and inverse deviation, kept for backward.
void layer_norm_forward(Context& context, ConstTensorView x, const LayerNormParameters& parameters,
                        TensorView y, TensorView statistics);
// dx may be dy.
void layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView x, ConstTensorView statistics,
                         const LayerNormParameters& parameters, TensorView dx,
                         const LayerNormGradients& gradients);

// The end of a BERT sub-layer in one pass: branch becomes residual + dropout(branch), y its layer norm.
void add_layer_norm_forward(Context& context, TensorView branch, ConstTensorView residual,
                            const Dropout& dropout, const LayerNormParameters& parameters, TensorView y,
                            TensorView statistics);
// `sum` is what forward left in branch. dsum, which may be dy, is the residual's gradient; dbranch the
// branch's.
void add_layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView sum,
                             ConstTensorView statistics, const Dropout& dropout,
                             const LayerNormParameters& parameters, TensorView dsum, TensorView dbranch,
                             const LayerNormGradients& gradients);

}  // namespace podium::ops
