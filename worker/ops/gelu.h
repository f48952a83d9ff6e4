// GELU (Hendrycks and Gimpel, 2016), BERT's with the error function and GPT-2's with tanh:
//
//   erf:   y = x Phi(x)                                      y' = Phi(x) + x phi(x)
//   tanh:  y = x s,  s = (1 + tanh(u)) / 2,                  y' = s + 2 x s (1 - s) u'
//          u = sqrt(2 / pi) (x + 0.044715 x^3)
//
// Forward computes both at once, since they share their one exponential; backward is then a product, which
// the matrix product before it absorbs (see ProductOptions in linear.h).
#pragma once

#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

enum class GeluKind { erf, tanh };

// x and y of one shape and type; x is replaced by y'(x).
void gelu_forward(Context& context, TensorView x, TensorView y, GeluKind kind = GeluKind::erf);

// dy *= slope, where slope is what forward left in x.
void gelu_backward(Context& context, ConstTensorView slope, TensorView dy);

}  // namespace podium::ops
