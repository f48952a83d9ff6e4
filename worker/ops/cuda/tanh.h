// CUDA side of worker/ops/tanh.h.
#pragma once

#include "worker/ops/tanh.h"

namespace podium::ops::cuda {

void tanh_forward(Context& context, TensorView x);
void tanh_backward(Context& context, ConstTensorView y, TensorView dy);

}  // namespace podium::ops::cuda
