// CPU side of worker/ops/inference_linear.h.
#pragma once

#include "worker/ops/inference_linear.h"

namespace podium::ops::cpu {

void inference_linear(Context& context, ConstTensorView x, InferenceWeight& weight,
                      const InferenceEpilogue& epilogue, TensorView y);

}  // namespace podium::ops::cpu
