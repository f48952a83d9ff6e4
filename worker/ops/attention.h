// Multi-head self-attention (Vaswani et al., 2017) between the fused query/key/value projection and the
// output projection, one head of one sequence at a time, a block of queries whose scores stay in cache.
//
//   P = softmax(Q K^T / sqrt(d) + mask)     O = dropout(P) V
//
// qkv [rows, 3 * hidden] holds queries, keys and values side by side, each split into heads of d = hidden /
// heads columns; out [rows, hidden]. Keys at and beyond a sequence's valid length are masked, and where
// causal those after the query.
#pragma once

#include <cstdint>
#include <span>

#include "worker/ops/dropout.h"
#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

// Rows of a sequence that attention on a device takes with dropout.
inline constexpr std::int64_t kMaxDeviceLengthWithDropout = 1 << 17;

struct AttentionShape {
  std::int64_t sequences = 0;
  std::int64_t length = 0;  // rows of a sequence; at most so many where row_begins is given
  std::int64_t heads = 0;   // computed here
  std::int64_t head_size = 0;
  bool causal = false;
  // Where these heads stand among all of the model's, which number the dropout's rows; 0: they are all.
  std::int64_t first_head = 0;
  std::int64_t total_heads = 0;
  // [sequences + 1]: sequence s has the rows from row_begins[s] up to row_begins[s + 1] and no padding.
  // Empty: every sequence has `length` rows. Lies where the tensors do.
  std::span<const std::int32_t> row_begins = {};
  std::int64_t packed_rows = 0;  // of the tensors; from the last of row_begins on they are left alone

  std::int64_t hidden() const { return heads * head_size; }
  std::int64_t rows() const { return row_begins.empty() ? sequences * length : packed_rows; }
};

// What forward keeps for backward, in a layout of the back end's own: on the CPU P, its sign set where
// dropout fell; on a device a statistic of each row of P and, with dropout, a bit for each of its elements.
struct AttentionSaved {
  DType dtype = DType::f32;
  std::int64_t count = 0;  // of elements
};
AttentionSaved attention_saved(const Context& context, const AttentionShape& shape, DType qkv,
                               const Dropout& dropout);

// The check of lengths and row_begins that all attention ops make. It does not see into a device's memory.
void check_sequences(const Context& context, const AttentionShape& shape,
                     std::span<const std::int32_t> valid_lengths);

// `valid_lengths` [sequences], where the tensors lie; empty: there is no padding. `saved` is as
// attention_saved() says; without an address backward computes it again.
// The dropout's row of (sequence, head, query) is first_row + (sequence * total_heads + first_head + head) *
// length + query, on however many ranks and with or without padding.
void attention_forward(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                       std::span<const std::int32_t> valid_lengths, const Dropout& dropout, TensorView saved,
                       TensorView out);
// With forward's arguments and results. Where `column_sums` is given, f32 [3 * hidden], the column sums of
// dqkv are added to it: the gradient of the bias of the projection before. The CPU sums dqkv as it is
// written, rounded to its type; a device sums it before it is rounded where tensor cores compute it (16-bit
// types, head sizes that are multiples of 8 up to 128), else as it is written. What is summed as it is
// written includes the rows that belong to no sequence, which must therefore be zero.
void attention_backward(Context& context, const AttentionShape& shape, ConstTensorView dout,
                        ConstTensorView out, ConstTensorView qkv, std::span<const std::int32_t> valid_lengths,
                        ConstTensorView saved, const Dropout& dropout, TensorView dqkv,
                        TensorView column_sums = {});

}  // namespace podium::ops
