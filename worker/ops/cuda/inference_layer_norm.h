// CUDA side of worker/ops/inference_layer_norm.h.
#pragma once

#include "worker/ops/inference_layer_norm.h"

namespace podium::ops::cuda {

void inference_layer_norm(Context& context, ConstTensorView x, const LayerNormParameters& parameters,
                          TensorView y, const QuantisedCopy& copy);

}  // namespace podium::ops::cuda
