// Attention for inference, formula in attention.h: nothing is dropped or kept for a backward pass, and the
// result may be what the next product reads in 8 bits.
#pragma once

#include <cstdint>
#include <span>

#include "worker/ops/attention.h"
#include "worker/ops/quantised.h"
#include "worker/tensor/context.h"

namespace podium::ops {

// Whether the back end can quantise attention's result. The CPU always can; CUDA's kernel takes f16 and heads
// of at most 64 columns, a multiple of 8, as those of every BERT that was published.
bool attention_quantises(const Context& context, const AttentionShape& shape, DType qkv);

// The type that queries, keys and values had best come in where activations are of `activation` and attention
// writes 8 bits: the CPU's sums are f32 anyway, and bf16 goes twice as fast where it has instructions for it.
DType quantised_attention_type(const Context& context, DType activation);

// `valid_lengths` as in attention.h. `out` is of qkv's type, or i8 or e4m3 in units of `out_scale` where
// attention_quantises().
void inference_attention(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                         std::span<const std::int32_t> valid_lengths, TensorView out, float out_scale = 1.0F);

}  // namespace podium::ops
