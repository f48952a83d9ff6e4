// GELU (Hendrycks and Gimpel, 2016), BERT's with the error function and GPT-2's with tanh:
//
//   erf:   y = x Phi(x)                                      y' = Phi(x) + x phi(x)
//   tanh:  y = x s,  s = (1 + tanh(u)) / 2,                  y' = s + 2 x s (1 - s) u'
//          u = sqrt(2 / pi) (x + 0.044715 x^3)
//
// On the CPU, where exponentials are dear, forward computes both at once, since they share the one; backward
// is then a product, which the matrix product before it absorbs (see ProductOptions in linear.h). On a
// device, where passes through memory are, forward leaves its input as it is, and backward works out the
// slope again.
#pragma once

#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

enum class GeluKind { erf, tanh };

// What forward has left in x: y'(x), or on a device still x.
struct SavedGelu {
  ConstTensorView values = {};
  GeluKind kind = GeluKind::erf;
};

// x and y of one shape and type; x becomes what SavedGelu holds.
void gelu_forward(Context& context, TensorView x, TensorView y, GeluKind kind = GeluKind::erf);

// dy *= y'(x).
void gelu_backward(Context& context, const SavedGelu& saved, TensorView dy);

}  // namespace podium::ops
