#include "worker/ops/inference_attention.h"

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {

bool attention_quantises(const Context& context, const AttentionShape& shape, DType qkv) {
  return backend(context).attention_quantises(context, shape, qkv);
}

DType quantised_attention_type(const Context& context, DType activation) {
  return backend(context).quantised_attention_type(context, activation);
}

void inference_attention(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                         std::span<const std::int32_t> valid_lengths, TensorView out, float out_scale) {
  const bool quantises = is_quantised(out.dtype);
  check_sequences(context, shape, valid_lengths);
  check_tensor(qkv, qkv.dtype, Shape{shape.rows(), 3 * shape.hidden()}, "qkv");
  check_tensor(out, quantises ? out.dtype : qkv.dtype, Shape{shape.rows(), shape.hidden()}, "out");
  PODIUM_CHECK(!quantises || attention_quantises(context, shape, qkv.dtype),
               "a device quantises what tensor cores compute");
  const ProfileScope scope(context, "inference_attention", {.bytes = bytes_of(qkv, out)});
  backend(context).inference_attention(context, shape, qkv, valid_lengths, out, out_scale);
}

}  // namespace podium::ops
