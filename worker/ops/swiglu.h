// SwiGLU (Shazeer, 2020), the gate of a feed-forward layer. x [rows, 2n] holds the gate a and, side by side
// with it, the linear part b, as one product with both weights leaves them; y [rows, n].
//
//   y = silu(a) * b,  silu(a) = a s,  s = 1 / (1 + e^-a)
//   da = dy * b * s (1 + a (1 - s));  db = dy * silu(a)
#pragma once

#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

void swiglu_forward(Context& context, ConstTensorView x, TensorView y);
// dx [rows, 2n] may be x.
void swiglu_backward(Context& context, ConstTensorView x, ConstTensorView dy, TensorView dx);

}  // namespace podium::ops
