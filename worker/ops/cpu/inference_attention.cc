#include "worker/ops/cpu/inference_attention.h"

#include "worker/ops/cpu/attention.h"
#include "worker/ops/cpu/quantise.h"

namespace podium::ops::cpu {

void inference_attention(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                         std::span<const std::int32_t> valid_lengths, const QuantisedCopy& out) {
  const ArenaScope scope(context.scratch);
  const TensorView exact = context.scratch.allocate(qkv.dtype, out.values.shape);
  cpu::attention_forward(context, shape, qkv, valid_lengths, {}, {}, exact);
  quantise(exact.address, exact.dtype, exact.size(), out, context.threads);
}

}  // namespace podium::ops::cpu
