// The pooler's activation: y = tanh(x), dx = dy (1 - y^2).
#pragma once

#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

void tanh_forward(Context& context, TensorView x);                       // in place
void tanh_backward(Context& context, ConstTensorView y, TensorView dy);  // dy becomes dx

}  // namespace podium::ops
