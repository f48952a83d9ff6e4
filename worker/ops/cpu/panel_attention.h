// Attention for inference by panels (panels.h): a head's keys and values are brought into panels, and its
// queries pass by a few at a time, so that scores and probabilities stay in the first-level cache.
#pragma once

#include <cstdint>
#include <span>

#include "worker/ops/attention.h"
#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops::cpu {

// Of f32 or bf16, where panels_multiply() it; as inference_attention() in worker/ops/inference_attention.h.
void panel_attention(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                     std::span<const std::int32_t> valid_lengths, TensorView out, float out_scale);

}  // namespace podium::ops::cpu
