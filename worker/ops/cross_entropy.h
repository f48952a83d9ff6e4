// Softmax cross-entropy over logits [rows, classes]; rows with a negative label count for nothing. Each row
// is brought into cache once and its gradient written over it. On a device logits may have more columns than
// `classes`, as linear.h may have padded them: those are not looked at, and 0 in a gradient. No `classes`:
// all.
//
//   loss = log(sum(exp(x))) - x[label]        dx = scale * (softmax(x) - onehot(label))
//
// With weights of classes both are multiplied by that of the label.
#pragma once

#include <cstdint>
#include <span>

#include "worker/ops/step_value.h"
#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

struct CrossEntropySums {
  double loss = 0;
  std::int64_t rows = 0;     // with a label
  std::int64_t correct = 0;  // of them, the label has the highest logit

  CrossEntropySums& operator+=(const CrossEntropySums& other) {
    loss += other.loss;
    rows += other.rows;
    correct += other.correct;
    return *this;
  }
};

// Adds to `sums`, which lies in the device's memory where the context has one: a step's sums are read once,
// at its end. A label beyond the classes is refused on the CPU and makes the loss NaN on a device. `weights`:
// f32 [classes]; without an address: all 1.
void cross_entropy(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                   CrossEntropySums* sums, std::int64_t classes = 0, ConstTensorView weights = {});

// Also replaces the logits by scale * their gradient and adds its column sums, the gradient of the bias
// before the logits, to dbias (f32 [classes]; without an address: not wanted).
void cross_entropy_backward(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                            const StepValue<float>& scale, TensorView dbias, CrossEntropySums* sums,
                            std::int64_t classes = 0, ConstTensorView weights = {});

// The same, without weights, where each rank holds the logits of its own range of classes (Shoeybi et al.,
// 2019). Between the stages the caller reduces over the ranks what a stage wrote:
//
//   class_maxima -> maxima: max      class_sums -> sums: sum      class_totals, class_gradients
//
// labels are those of all classes; `first_class` is that of this rank's first column.

// maxima f32 [rows]: the row's highest logit here.
void class_maxima(Context& context, ConstTensorView logits, TensorView maxima, std::int64_t classes = 0);

// sums f32 [rows, 2]: the sum of exp(x - maximum) here, and x[label] where the label is here, else 0.
void class_sums(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                std::int64_t first_class, ConstTensorView maxima, TensorView sums, std::int64_t classes = 0);

// Adds to `totals`, as above.
void class_totals(Context& context, std::span<const std::int32_t> labels, ConstTensorView maxima,
                  ConstTensorView sums, CrossEntropySums* totals);

// Replaces the logits by scale * their gradient; dbias as above.
void class_gradients(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                     std::int64_t first_class, ConstTensorView maxima, ConstTensorView sums,
                     const StepValue<float>& scale, TensorView dbias, std::int64_t classes = 0);

}  // namespace podium::ops
