// GELU in double, and a GELU as backward finds it.
#pragma once

#include <cmath>
#include <numbers>

#include "tests/worker/ops/op_check.h"
#include "worker/ops/gelu.h"

namespace podium::test {

inline double gelu_slope(ops::GeluKind kind, double x) {
  if (kind == ops::GeluKind::erf)
    return 0.5 * (1.0 + std::erf(x / std::numbers::sqrt2)) +
           x * std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  const double c = std::sqrt(2.0 / std::numbers::pi), t = std::tanh(c * (x + 0.044715 * x * x * x));
  return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * c * (1.0 + 3.0 * 0.044715 * x * x);
}

// x becomes what forward leaves of it.
inline ops::SavedGelu saved_gelu(Context& context, Tensor& x, ops::GeluKind kind) {
  Tensor y(x.dtype(), x.shape());
  ops::gelu_forward(context, x.view(), y.view(), kind);
  return {x.view(), kind};
}

}  // namespace podium::test
