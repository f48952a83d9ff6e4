// CUDA side of worker/ops/cross_entropy.h.
#pragma once

#include "worker/ops/cross_entropy.h"

namespace podium::ops::cuda {

// A label beyond the classes makes the loss NaN.
void cross_entropy(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                   CrossEntropySums* sums, std::int64_t classes);
void cross_entropy_backward(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                            const StepValue<float>& scale, TensorView dbias, CrossEntropySums* sums,
                            std::int64_t classes);

void class_maxima(Context& context, ConstTensorView logits, TensorView maxima, std::int64_t classes);
void class_sums(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                std::int64_t first_class, ConstTensorView maxima, TensorView sums, std::int64_t classes);
void class_totals(Context& context, std::span<const std::int32_t> labels, ConstTensorView maxima,
                  ConstTensorView sums, CrossEntropySums* totals);
void class_gradients(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                     std::int64_t first_class, ConstTensorView maxima, ConstTensorView sums,
                     const StepValue<float>& scale, TensorView dbias, std::int64_t classes);

}  // namespace podium::ops::cuda
