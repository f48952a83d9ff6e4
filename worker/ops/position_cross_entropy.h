// Softmax cross-entropy over the positions of a sequence: a column of logits [rows, columns] scores each
// position, and the label says which one is right. A sequence's rows beyond its valid length take no part.
//
//   loss = log(sum(exp(x[valid rows]))) - x[first row + label]
//   dx   = scale * (softmax(x[valid rows]) - onehot(label))
#pragma once

#include <cstdint>
#include <span>

#include "worker/ops/cross_entropy.h"
#include "worker/ops/sequence_rows.h"

namespace podium::ops {

// labels [sequences], each below the sequence's valid length; a sequence with a negative label counts for
// nothing. Adds to `sums` as cross_entropy() does.
void position_cross_entropy(Context& context, ConstTensorView logits, std::int64_t column,
                            const SequenceRows& rows, std::span<const std::int32_t> labels,
                            CrossEntropySums* sums);

// Also replaces all rows of the column by their gradient, which is 0 outside of the valid rows.
void position_cross_entropy_backward(Context& context, TensorView logits, std::int64_t column,
                                     const SequenceRows& rows, std::span<const std::int32_t> labels,
                                     const StepValue<float>& scale, CrossEntropySums* sums);

}  // namespace podium::ops
