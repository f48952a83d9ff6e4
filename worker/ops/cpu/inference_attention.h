// CPU side of worker/ops/inference_attention.h, where the result is quantised.
#pragma once

#include "worker/ops/inference_attention.h"

namespace podium::ops::cpu {

void inference_attention(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                         std::span<const std::int32_t> valid_lengths, const QuantisedCopy& out);

}  // namespace podium::ops::cpu
