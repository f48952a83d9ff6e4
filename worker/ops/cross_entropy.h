// Softmax cross-entropy over logits [rows, classes]; rows with a negative label count for nothing. Each row
// is brought into cache once and its gradient written over it.
//
//   loss = log(sum(exp(x))) - x[label]        dx = scale * (softmax(x) - onehot(label))
#pragma once

#include <cstdint>
#include <span>

#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

struct CrossEntropySums {
  double loss = 0;
  std::int64_t rows = 0;     // with a label
  std::int64_t correct = 0;  // of them, the label has the highest logit
};

CrossEntropySums cross_entropy(Context& context, ConstTensorView logits,
                               std::span<const std::int32_t> labels);

// Also replaces the logits by scale * their gradient and adds its column sums, the gradient of the bias
// before the logits, to dbias (f32 [classes]).
CrossEntropySums cross_entropy_backward(Context& context, TensorView logits,
                                        std::span<const std::int32_t> labels, float scale, TensorView dbias);

}  // namespace podium::ops
