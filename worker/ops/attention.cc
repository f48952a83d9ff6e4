#include "worker/ops/attention.h"

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {
namespace {

void check_shapes(const Context& context, const AttentionShape& s, const ConstTensorView& qkv,
                  const Dropout& dropout, const ConstTensorView& saved, const ConstTensorView& out) {
  check_tensor(qkv, qkv.dtype, Shape{s.rows(), 3 * s.hidden()}, "qkv");
  check_tensor(out, qkv.dtype, Shape{s.rows(), s.hidden()}, "out");
  PODIUM_CHECK(s.total_heads == 0 || s.first_head + s.heads <= s.total_heads,
               "more heads than the model has");
  if (saved.address == nullptr) return;
  const AttentionSaved needed = attention_saved(context, s, qkv.dtype, dropout);
  PODIUM_CHECK(saved.dtype == needed.dtype && saved.size() == needed.count,
               "attention keeps for backward what attention_saved() says");
}

// Of Q K^T and P V, every key counted for every query, masked or not. Where lengths lie on a device, as if
// the rows were spread evenly.
double flops_of(const Context& context, const AttentionShape& s) {
  const auto rows = static_cast<double>(s.rows()), hidden = static_cast<double>(s.hidden());
  if (!backend(context).host_reads_integers)
    return 4 * rows * rows / static_cast<double>(s.sequences) * hidden;
  double pairs = 0;
  for (std::int64_t i = 0; i < s.sequences; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t length =
        s.row_begins.empty() ? s.length : std::int64_t{s.row_begins[at + 1]} - s.row_begins[at];
    pairs += static_cast<double>(length) * static_cast<double>(length);
  }
  return 4 * pairs * hidden;
}

}  // namespace

void check_sequences(const Context& context, const AttentionShape& s,
                     std::span<const std::int32_t> valid_lengths) {
  const auto sequences = static_cast<std::size_t>(s.sequences);
  PODIUM_CHECK(valid_lengths.empty() || (valid_lengths.size() == sequences && s.row_begins.empty()),
               "one valid length a sequence, and none where sequences have no padding");
  PODIUM_CHECK(s.row_begins.empty() || s.row_begins.size() == sequences + 1,
               "one begin a sequence, and the end");
  if (!backend(context).host_reads_integers) return;
  for (const std::int32_t valid : valid_lengths) {
    PODIUM_CHECK(valid >= 1 && valid <= s.length, "a valid length lies between 1 and the sequence length");
  }
  if (s.row_begins.empty()) return;
  PODIUM_CHECK(s.row_begins.front() == 0 && s.row_begins.back() <= s.packed_rows,
               "sequences without padding follow one another from the first row on");
  for (std::size_t i = 0; i < sequences; ++i) {
    const std::int32_t rows = s.row_begins[i + 1] - s.row_begins[i];
    PODIUM_CHECK(rows >= 1 && rows <= s.length, "a sequence has between 1 and `length` rows");
  }
}

AttentionSaved attention_saved(const Context& context, const AttentionShape& shape, DType qkv,
                               const Dropout& dropout) {
  return backend(context).attention_saved(context, shape, qkv, dropout);
}

void attention_forward(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                       std::span<const std::int32_t> valid_lengths, const Dropout& dropout, TensorView saved,
                       TensorView out) {
  check_sequences(context, shape, valid_lengths);
  check_shapes(context, shape, qkv, dropout, saved, out);
  const ProfileScope scope(context, "attention_forward",
                           {.flops = flops_of(context, shape), .bytes = bytes_of(qkv, saved, out)});
  backend(context).attention_forward(context, shape, qkv, valid_lengths, dropout, saved, out);
}

void attention_backward(Context& context, const AttentionShape& shape, ConstTensorView dout,
                        ConstTensorView out, ConstTensorView qkv, std::span<const std::int32_t> valid_lengths,
                        ConstTensorView saved, const Dropout& dropout, TensorView dqkv,
                        TensorView column_sums) {
  check_sequences(context, shape, valid_lengths);
  check_shapes(context, shape, qkv, dropout, saved, out);
  check_tensor(dout, qkv.dtype, out.shape, "dout");
  check_tensor(dqkv, qkv.dtype, qkv.shape, "dqkv");
  if (column_sums.address != nullptr)
    check_tensor(column_sums, DType::f32, Shape{3 * shape.hidden()}, "column_sums");
  // Half of forward, Q K^T, comes again where nothing was saved.
  const double passes = saved.address == nullptr ? 2.5 : 2;
  const ProfileScope scope(
      context, "attention_backward",
      {.flops = passes * flops_of(context, shape), .bytes = bytes_of(dout, out, qkv, saved, dqkv)});
  backend(context).attention_backward(context, shape, dout, out, qkv, valid_lengths, saved, dropout, dqkv,
                                      column_sums);
}

}  // namespace podium::ops
