// CUDA side of worker/ops/cross_entropy.h.
#pragma once

#include "worker/ops/cross_entropy.h"

namespace podium::ops::cuda {

// A label beyond the classes makes the loss NaN.
CrossEntropySums cross_entropy(Context& context, ConstTensorView logits,
                               std::span<const std::int32_t> labels);
CrossEntropySums cross_entropy_backward(Context& context, TensorView logits,
                                        std::span<const std::int32_t> labels, float scale, TensorView dbias);

void class_maxima(Context& context, ConstTensorView logits, TensorView maxima);
void class_sums(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                std::int64_t first_class, ConstTensorView maxima, TensorView sums);
void class_gradients(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                     std::int64_t first_class, ConstTensorView maxima, ConstTensorView sums, float scale,
                     TensorView dbias);

}  // namespace podium::ops::cuda
