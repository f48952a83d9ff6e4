// CUDA side of worker/ops/attention.h and inference_attention.h.
#pragma once

#include "worker/ops/attention.h"

namespace podium::ops::cuda {

AttentionSaved attention_saved(const AttentionShape& shape, const Dropout& dropout);
void attention_forward(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                       std::span<const std::int32_t> valid_lengths, const Dropout& dropout, TensorView saved,
                       TensorView out);
void inference_attention(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                         std::span<const std::int32_t> valid_lengths, TensorView out, float out_scale);
void attention_backward(Context& context, const AttentionShape& shape, ConstTensorView dout,
                        ConstTensorView out, ConstTensorView qkv, std::span<const std::int32_t> valid_lengths,
                        ConstTensorView saved, const Dropout& dropout, TensorView dqkv,
                        TensorView column_sums);

}  // namespace podium::ops::cuda
