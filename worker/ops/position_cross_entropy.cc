#include "worker/ops/position_cross_entropy.h"

#include "worker/ops/backend.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {
namespace {

// What lies in a device's memory is not looked at.
void check(const Context& context, const ConstTensorView& logits, std::int64_t column,
           const SequenceRows& rows, std::span<const std::int32_t> labels) {
  PODIUM_CHECK(logits.shape.rank() == 2 && column >= 0 && column < logits.shape[1], "logits have the column");
  PODIUM_CHECK(std::ssize(labels) == rows.sequences, "one label a sequence");
  check_sequence_rows(context, rows, logits.shape[0]);
  if (!backend(context).host_reads_integers) return;
  for (std::int64_t s = 0; s < rows.sequences; ++s) {
    const RowsOfOne own = rows_of(rows, s, logits.shape[0]);
    PODIUM_CHECK(labels[static_cast<std::size_t>(s)] < own.valid_end - own.begin,
                 "label outside the sequence's valid rows");
  }
}

}  // namespace

void position_cross_entropy(Context& context, ConstTensorView logits, std::int64_t column,
                            const SequenceRows& rows, std::span<const std::int32_t> labels,
                            CrossEntropySums* sums) {
  check(context, logits, column, rows, labels);
  const ProfileScope scope(context, "position_cross_entropy", {.bytes = bytes_of(logits)});
  backend(context).position_cross_entropy(context, logits, column, rows, labels, sums);
}

void position_cross_entropy_backward(Context& context, TensorView logits, std::int64_t column,
                                     const SequenceRows& rows, std::span<const std::int32_t> labels,
                                     const StepValue<float>& scale, CrossEntropySums* sums) {
  check(context, logits, column, rows, labels);
  const ProfileScope scope(context, "position_cross_entropy_backward", {.bytes = bytes_of(logits, logits)});
  backend(context).position_cross_entropy_backward(context, logits, column, rows, labels, scale, sums);
}

}  // namespace podium::ops
