#include "worker/ops/position_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"

namespace podium::ops::cpu {
namespace {

// A column of logits.
template <class T>
struct Column {
  T* begin;
  std::int64_t stride;

  T& operator[](std::int64_t row) const { return begin[row * stride]; }
};

struct Softmax {
  float highest = 0.0F;
  double sum = 0;  // of exp(x - highest)
};

template <class T>
Softmax softmax_of(const Column<const T>& x, const RowsOfOne& rows) {
  Softmax softmax{to_float(x[rows.begin]), 0};
  for (std::int64_t row = rows.begin; row < rows.valid_end; ++row)
    softmax.highest = std::max(softmax.highest, to_float(x[row]));
  for (std::int64_t row = rows.begin; row < rows.valid_end; ++row)
    softmax.sum += std::exp(to_float(x[row]) - softmax.highest);
  return softmax;
}

template <class T>
CrossEntropySums sums_of(const Column<const T>& x, const RowsOfOne& rows, const Softmax& softmax,
                         std::int32_t label) {
  const float logit = to_float(x[rows.begin + label]);
  return {std::log(softmax.sum) + softmax.highest - logit, 1, logit >= softmax.highest ? 1 : 0};
}

template <class T>
void write_gradient(const Column<T>& x, const RowsOfOne& rows, const Softmax& softmax, std::int32_t label,
                    float scale) {
  for (std::int64_t row = rows.begin; row < rows.valid_end; ++row) {
    const auto share = static_cast<float>(std::exp(to_float(x[row]) - softmax.highest) / softmax.sum);
    x[row] = from_float<T>(scale * (share - (row == rows.begin + label ? 1.0F : 0.0F)));
  }
  for (std::int64_t row = rows.valid_end; row < rows.end; ++row) x[row] = T{};
}

// of_sequence(RowsOfOne, label) returns the sums of one; they are added in order.
template <class OfSequence>
void add_sequences(Context& context, const SequenceRows& rows, std::int64_t all_rows,
                   std::span<const std::int32_t> labels, CrossEntropySums* sums,
                   const OfSequence& of_sequence) {
  std::vector<CrossEntropySums> parts(labels.size());
  parallel_ranges(context.threads, rows.sequences, 1, [&](Range range, int) {
    for (std::int64_t s = range.begin; s < range.end; ++s)
      parts[static_cast<std::size_t>(s)] =
          of_sequence(rows_of(rows, s, all_rows), labels[static_cast<std::size_t>(s)]);
  });
  for (const CrossEntropySums& part : parts) *sums += part;
}

}  // namespace

void position_cross_entropy(Context& context, ConstTensorView logits, std::int64_t column,
                            const SequenceRows& rows, std::span<const std::int32_t> labels,
                            CrossEntropySums* sums) {
  with_float_type(logits.dtype, [&]<class T>(Type<T>) {
    const Column<const T> x{logits.data<T>() + column, logits.shape[1]};
    add_sequences(context, rows, logits.shape[0], labels, sums,
                  [&](const RowsOfOne& own, std::int32_t label) {
                    return label < 0 ? CrossEntropySums{} : sums_of(x, own, softmax_of(x, own), label);
                  });
  });
}

void position_cross_entropy_backward(Context& context, TensorView logits, std::int64_t column,
                                     const SequenceRows& rows, std::span<const std::int32_t> labels,
                                     const StepValue<float>& scale, CrossEntropySums* sums) {
  with_float_type(logits.dtype, [&]<class T>(Type<T>) {
    const Column<T> x{logits.data<T>() + column, logits.shape[1]};
    const Column<const T> read{x.begin, x.stride};
    add_sequences(context, rows, logits.shape[0], labels, sums,
                  [&](const RowsOfOne& own, std::int32_t label) {
                    if (label < 0) {
                      for (std::int64_t row = own.begin; row < own.end; ++row) x[row] = T{};
                      return CrossEntropySums{};
                    }
                    const Softmax softmax = softmax_of(read, own);
                    const CrossEntropySums part = sums_of(read, own, softmax, label);
                    write_gradient(x, own, softmax, label, scale.value);
                    return part;
                  });
  });
}

}  // namespace podium::ops::cpu
