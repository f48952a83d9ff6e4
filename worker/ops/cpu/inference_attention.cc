#include "worker/ops/inference_attention.h"

#include "worker/ops/cpu/backend.h"
#include "worker/ops/cpu/panel_attention.h"
#include "worker/ops/cpu/panels.h"
#include "worker/ops/cpu/quantise.h"

namespace podium::ops::cpu {

void inference_attention(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                         std::span<const std::int32_t> valid_lengths, TensorView out, float out_scale) {
  if (panels_multiply(qkv.dtype)) return panel_attention(context, shape, qkv, valid_lengths, out, out_scale);
  if (!is_quantised(out.dtype))
    return cpu::attention_forward(context, shape, qkv, valid_lengths, {}, {}, out);  // as in training
  const ArenaScope scope(context.scratch);
  const TensorView exact = context.scratch.allocate(qkv.dtype, out.shape);
  cpu::attention_forward(context, shape, qkv, valid_lengths, {}, {}, exact);
  quantise(exact.address, exact.dtype, exact.size(), {out, out_scale}, context.threads);
}

bool attention_quantises(const Context& /*context*/, const AttentionShape& /*shape*/, DType /*qkv*/) {
  return true;
}

DType quantised_attention_type(const Context& /*context*/, DType activation) {
  return panels_multiply(DType::bf16) ? DType::bf16 : activation;
}

}  // namespace podium::ops::cpu
