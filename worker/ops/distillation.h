// How far a student's scores are from its teacher's (Hinton et al., 2015). A column of x [rows, columns] and
// `teacher` [rows], f32, score the same positions; the valid rows of each sequence share one softmax, at the
// temperature T.
//
//   p = softmax(teacher / T), q = softmax(x / T)
//   loss = T^2 * sum(p * (log(p) - log(q)))        dx += scale * T * (q - p)
//
// Scores of classes are the positions of a sequence as well: x [rows, classes] as [rows * classes, 1], whose
// sequences have `classes` rows each.
#pragma once

#include <cstdint>
#include <span>

#include "worker/ops/cross_entropy.h"
#include "worker/ops/sequence_rows.h"

namespace podium::ops {

// Adds to the column of dx, which is shaped like x, and to `sums` as cross_entropy() does; none counts as
// correct. `teacher` lies where the tensors do.
void distillation(Context& context, ConstTensorView x, std::int64_t column, const SequenceRows& rows,
                  std::span<const float> teacher, float temperature, const StepValue<float>& scale,
                  TensorView dx, CrossEntropySums* sums);

}  // namespace podium::ops
