// Values rounded as inference in 8 bits rounds them (quantised.h), in the type that training computes in, and
// their gradients, which pass the rounding as if it were not there (Bengio et al., 2013; Jacob et al., 2018):
//
//   y = q * scale,  q = saturate(round to nearest even(x / scale))        dx = dy where q did not saturate,
//   else 0
//
// A range is the magnitude whose q is the type's largest: scale = range / 127, or / 448. Ranges have one
// value for the tensor, an f32 [1], or one for each row of a weight. What is not a number stays so.
#pragma once

#include "worker/ops/quantised.h"
#include "worker/tensor/context.h"
#include "worker/tensor/dtype.h"

namespace podium::ops {

// constexpr, so that device code may call it.
constexpr float quantisation_scale(DType type, float range) {
  const float most = type == DType::i8 ? 127.0F : Float8E4M3::kLargest;
  return range > 0.0F ? range / most : 1.0F;
}

// ranges = the larger of themselves and the magnitudes in x [rows, columns]: all of them, or each row's. A
// NaN counts as infinity.
void widen_ranges(Context& context, ConstTensorView x, TensorView ranges);

// x and y of one float type and shape [rows, columns]; they may be the same. A weight's values are divided by
// its rows' scales, and a tensor's multiplied by the reciprocal of its scale, as for inference.
void fake_quantise(Context& context, ConstTensorView x, DType type, ConstTensorView ranges, TensorView y);

// dx = the gradient of the x that fake_quantise() was given with this range, of one value, or adds it. dy and
// dx are like x and may be the same.
void fake_quantise_backward(Context& context, ConstTensorView x, DType type, ConstTensorView range,
                            ConstTensorView dy, bool accumulate, TensorView dx);

}  // namespace podium::ops
