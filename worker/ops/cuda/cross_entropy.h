// CUDA side of worker/ops/cross_entropy.h.
#pragma once

#include "worker/ops/cross_entropy.h"

namespace podium::ops::cuda {

// A label beyond the classes makes the loss NaN.
void cross_entropy(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                   CrossEntropySums* sums);
void cross_entropy_backward(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                            const StepValue<float>& scale, TensorView dbias, CrossEntropySums* sums);

void class_maxima(Context& context, ConstTensorView logits, TensorView maxima);
void class_sums(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                std::int64_t first_class, ConstTensorView maxima, TensorView sums);
void class_totals(Context& context, std::span<const std::int32_t> labels, ConstTensorView maxima,
                  ConstTensorView sums, CrossEntropySums* totals);
void class_gradients(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                     std::int64_t first_class, ConstTensorView maxima, ConstTensorView sums,
                     const StepValue<float>& scale, TensorView dbias);

}  // namespace podium::ops::cuda
