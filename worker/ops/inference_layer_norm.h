// Layer normalisation for inference, formula in layer_norm.h: no statistics are kept, and the copy that the
// next product reads in 8 bits falls out of the same pass.
#pragma once

#include "worker/ops/layer_norm.h"
#include "worker/ops/quantised.h"
#include "worker/tensor/context.h"

namespace podium::ops {

// x and y [rows, columns] of one float type; y may be x.
void inference_layer_norm(Context& context, ConstTensorView x, const LayerNormParameters& parameters,
                          TensorView y, const QuantisedCopy& copy = {});

}  // namespace podium::ops
