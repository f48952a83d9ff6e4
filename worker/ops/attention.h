// Multi-head self-attention (Vaswani et al., 2017) between the fused query/key/value projection and the
// output projection, one head of one sequence at a time while its scores stay in cache.
//
//   P = softmax(Q K^T / sqrt(d) + padding mask)     O = dropout(P) V
//
// qkv [sequences * length, 3 * hidden] holds queries, keys and values side by side, each split into heads of
// d = hidden / heads columns; out [sequences * length, hidden]. Keys at and beyond a sequence's valid length
// are masked.
#pragma once

#include <cstdint>
#include <span>

#include "worker/ops/dropout.h"
#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

struct AttentionShape {
  std::int64_t sequences = 0;
  std::int64_t length = 0;
  std::int64_t heads = 0;
  std::int64_t head_size = 0;

  std::int64_t hidden() const { return heads * head_size; }
  std::int64_t rows() const { return sequences * length; }
};

// `probabilities` [sequences, heads, length, length] is kept for backward: P, its sign set where dropout
// fell. The dropout's rows are (sequence, head, query), so `first_row` counts heads * length rows a sequence.
void attention_forward(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                       std::span<const std::int32_t> valid_lengths, const Dropout& dropout,
                       TensorView probabilities, TensorView out);
void attention_backward(Context& context, const AttentionShape& shape, ConstTensorView dout,
                        ConstTensorView qkv, ConstTensorView probabilities, const Dropout& dropout,
                        TensorView dqkv);

}  // namespace podium::ops
