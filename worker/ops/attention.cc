#include "worker/ops/attention.h"

#include "worker/ops/check.h"
#include "worker/ops/cpu/attention.h"
#include "worker/ops/cpu/attention_plan.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {
namespace {

void check_sequences(const AttentionShape& s, std::span<const std::int32_t> valid_lengths) {
  const auto sequences = static_cast<std::size_t>(s.sequences);
  PODIUM_CHECK(valid_lengths.empty() || (valid_lengths.size() == sequences && s.row_begins.empty()),
               "one valid length a sequence, and none where sequences have no padding");
  for (const std::int32_t valid : valid_lengths) {
    PODIUM_CHECK(valid >= 1 && valid <= s.length, "a valid length lies between 1 and the sequence length");
  }
  if (s.row_begins.empty()) return;
  PODIUM_CHECK(s.row_begins.size() == sequences + 1 && s.row_begins[0] == 0,
               "one begin a sequence, and the end");
  for (std::size_t i = 0; i < sequences; ++i) {
    const std::int32_t rows = s.row_begins[i + 1] - s.row_begins[i];
    PODIUM_CHECK(rows >= 1 && rows <= s.length, "a sequence has between 1 and `length` rows");
  }
}

void check_shapes(const AttentionShape& s, const ConstTensorView& qkv, const ConstTensorView& probabilities,
                  const ConstTensorView& out) {
  check_tensor(qkv, qkv.dtype, Shape{s.rows(), 3 * s.hidden()}, "qkv");
  check_tensor(out, qkv.dtype, Shape{s.rows(), s.hidden()}, "out");
  PODIUM_CHECK(s.total_heads == 0 || s.first_head + s.heads <= s.total_heads,
               "more heads than the model has");
  if (probabilities.address != nullptr) {
    PODIUM_CHECK(probabilities.dtype == qkv.dtype && probabilities.size() == attention_probabilities(s),
                 "room for attention_probabilities() elements of qkv's type");
  }
}

// Of Q K^T and P V, every key counted for every query, masked or not.
double flops_of(const AttentionShape& s) {
  double pairs = 0;
  for (std::int64_t i = 0; i < s.sequences; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t rows =
        s.row_begins.empty() ? s.length : std::int64_t{s.row_begins[at + 1]} - s.row_begins[at];
    pairs += static_cast<double>(rows) * static_cast<double>(rows);
  }
  return 4 * pairs * static_cast<double>(s.hidden());
}

}  // namespace

std::int64_t attention_probabilities(const AttentionShape& shape) {
  return cpu::AttentionPlan(shape).probabilities();
}

void attention_forward(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                       std::span<const std::int32_t> valid_lengths, const Dropout& dropout,
                       TensorView probabilities, TensorView out) {
  check_cpu(context);
  check_sequences(shape, valid_lengths);
  check_shapes(shape, qkv, probabilities, out);
  const ProfileScope scope(context, "attention_forward",
                           {.flops = flops_of(shape), .bytes = bytes_of(qkv, probabilities, out)});
  cpu::attention_forward(context, shape, qkv, valid_lengths, dropout, probabilities, out);
}

void attention_backward(Context& context, const AttentionShape& shape, ConstTensorView dout,
                        ConstTensorView qkv, std::span<const std::int32_t> valid_lengths,
                        ConstTensorView probabilities, const Dropout& dropout, TensorView dqkv) {
  check_cpu(context);
  check_sequences(shape, valid_lengths);
  check_shapes(shape, qkv, probabilities, dout);
  check_tensor(dqkv, qkv.dtype, qkv.shape, "dqkv");
  const ProfileScope scope(context, "attention_backward",
                           {.flops = 2 * flops_of(shape), .bytes = bytes_of(dout, qkv, probabilities, dqkv)});
  cpu::attention_backward(context, shape, dout, qkv, valid_lengths, probabilities, dropout, dqkv);
}

}  // namespace podium::ops
