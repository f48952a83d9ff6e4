// Layer normalisation (Ba et al., 2016) over the rows of x [rows, columns]; statistics and sums in f32.
//
//   y = (x - mean) * inverse_deviation * gamma + beta
//   g = dy * gamma;  dx = inverse_deviation * (g - mean(g) - x_hat * mean(g * x_hat)) + dresidual
#pragma once

#include "worker/ops/dropout.h"
#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

struct LayerNormParameters {
  ConstTensorView gamma;  // f32 [columns]
  ConstTensorView beta;
  float epsilon = 0;  // to be given, and positive: families differ in it
};

// Each is f32 [columns] and added to.
struct LayerNormGradients {
  TensorView gamma;
  TensorView beta;
  TensorView branch_bias = {};  // of the bias that ends the branch: column sums of dbranch; optional
};

// The check of x and the parameters that all ops of layer normalisation make.
void check_layer_norm(const ConstTensorView& x, const LayerNormParameters& parameters);

// statistics f32 [rows, 2]: mean and inverse deviation, kept for backward.
void layer_norm_forward(Context& context, ConstTensorView x, const LayerNormParameters& parameters,
                        TensorView y, TensorView statistics);
// dx may be dy. Where x also goes on by a residual connection, dresidual is that connection's gradient, which
// is added to dx and may be dx; without an address there is none.
void layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView x, ConstTensorView statistics,
                         const LayerNormParameters& parameters, TensorView dx,
                         const LayerNormGradients& gradients, ConstTensorView dresidual = {});

// The end of a sub-layer in one pass: branch becomes residual + dropout(branch), y its layer norm. BERT's
// layers go on with y alone; GPT's also with the sum, by the next residual connection.
void add_layer_norm_forward(Context& context, TensorView branch, ConstTensorView residual,
                            const Dropout& dropout, const LayerNormParameters& parameters, TensorView y,
                            TensorView statistics);
// `sum` is what forward left in branch. dsum, which may be dy or dresidual, is the residual's gradient;
// dbranch the branch's. dresidual as above.
void add_layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView sum,
                             ConstTensorView statistics, const Dropout& dropout,
                             const LayerNormParameters& parameters, TensorView dsum, TensorView dbranch,
                             const LayerNormGradients& gradients, ConstTensorView dresidual = {});

}  // namespace podium::ops
