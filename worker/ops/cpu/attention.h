// CPU side of worker/ops/attention.h.
#pragma once

#include "worker/ops/attention.h"

namespace podium::ops::cpu {

void attention_forward(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                       std::span<const std::int32_t> valid_lengths, const Dropout& dropout,
                       TensorView probabilities, TensorView out);
void attention_backward(Context& context, const AttentionShape& shape, ConstTensorView dout,
                        ConstTensorView qkv, std::span<const std::int32_t> valid_lengths,
                        ConstTensorView probabilities, const Dropout& dropout, TensorView dqkv,
                        TensorView column_sums);

}  // namespace podium::ops::cpu
