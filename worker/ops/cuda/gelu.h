// CUDA side of worker/ops/gelu.h.
#pragma once

#include "worker/ops/gelu.h"

namespace podium::ops::cuda {

void gelu_forward(Context& context, ConstTensorView x, TensorView y, GeluKind kind);
void gelu_backward(Context& context, const SavedGelu& saved, TensorView dy);

}  // namespace podium::ops::cuda
