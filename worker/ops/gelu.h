// GELU with the error function (Hendrycks and Gimpel, 2016):  y = x Phi(x),  y' = Phi(x) + x phi(x).
// Forward computes both at once, since they share their one exponential; backward is then a product, which
// the matrix product before it absorbs (see ProductOptions::multiply in linear.h).
#pragma once

#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

// x and y of one shape and type; x is replaced by y'(x).
void gelu_forward(Context& context, TensorView x, TensorView y);

// dy *= slope, where slope is what forward left in x.
void gelu_backward(Context& context, ConstTensorView slope, TensorView dy);

}  // namespace podium::ops
