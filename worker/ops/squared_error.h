// The squared error of predictions, one a row: x [rows, 1].
//
//   loss = (x - value)^2        dx = scale * 2 (x - value)
#pragma once

#include <span>

#include "worker/ops/cross_entropy.h"

namespace podium::ops {

// Adds to `sums` as cross_entropy() does; none counts as correct. `values` [rows] lie where the tensors do.
void squared_error(Context& context, ConstTensorView x, std::span<const float> values,
                   CrossEntropySums* sums);

// Also replaces the predictions by scale * their gradient and adds its sum to dbias (f32 [1]; without an
// address: not wanted).
void squared_error_backward(Context& context, TensorView x, std::span<const float> values,
                            const StepValue<float>& scale, TensorView dbias, CrossEntropySums* sums);

}  // namespace podium::ops
