#include "worker/ops/inference_attention.h"

#include "worker/ops/check.h"
#include "worker/ops/cpu/inference_attention.h"
#include "worker/ops/device_ops.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {

bool attention_quantises(const AttentionShape& shape, DType qkv) {
  return qkv == DType::f16 && shape.head_size % 8 == 0 && shape.head_size <= 64;
}

void inference_attention(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                         std::span<const std::int32_t> valid_lengths, TensorView out, float out_scale) {
  const bool quantises = is_quantised(out.dtype), on_device = context.device_ops != nullptr;
  // On the CPU the same as in training.
  if (!quantises && !on_device) return attention_forward(context, shape, qkv, valid_lengths, {}, {}, out);
  check_tensor(qkv, qkv.dtype, Shape{shape.rows(), 3 * shape.hidden()}, "qkv");
  check_tensor(out, quantises ? out.dtype : qkv.dtype, Shape{shape.rows(), shape.hidden()}, "out");
  const ProfileScope scope(context, "inference_attention", {.bytes = bytes_of(qkv, out)});
  if (!on_device) return cpu::inference_attention(context, shape, qkv, valid_lengths, {out, out_scale});
  PODIUM_CHECK(!quantises || attention_quantises(shape, qkv.dtype),
               "a device quantises what tensor cores compute");
  context.device_ops->inference_attention(context, shape, qkv, valid_lengths, out, out_scale);
}

}  // namespace podium::ops
