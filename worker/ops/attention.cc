#include "worker/ops/attention.h"

#include "worker/ops/check.h"
#include "worker/ops/cpu/attention.h"

namespace podium::ops {
namespace {

void check_shapes(const AttentionShape& s, const ConstTensorView& qkv, const ConstTensorView& probabilities,
                  const ConstTensorView& out) {
  check_tensor(qkv, qkv.dtype, Shape{s.rows(), 3 * s.hidden()}, "qkv");
  check_tensor(probabilities, qkv.dtype, Shape{s.sequences, s.heads, s.length, s.length}, "probabilities");
  check_tensor(out, qkv.dtype, Shape{s.rows(), s.hidden()}, "out");
}

}  // namespace

void attention_forward(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                       std::span<const std::int32_t> valid_lengths, const Dropout& dropout,
                       TensorView probabilities, TensorView out) {
  check_cpu(context);
  check_shapes(shape, qkv, probabilities, out);
  PODIUM_CHECK(static_cast<std::int64_t>(valid_lengths.size()) == shape.sequences,
               "one valid length a sequence");
  for (const std::int32_t valid : valid_lengths) {
    PODIUM_CHECK(valid >= 1 && valid <= shape.length,
                 "a valid length lies between 1 and the sequence length");
  }
  cpu::attention_forward(context, shape, qkv, valid_lengths, dropout, probabilities, out);
}

void attention_backward(Context& context, const AttentionShape& shape, ConstTensorView dout,
                        ConstTensorView qkv, ConstTensorView probabilities, const Dropout& dropout,
                        TensorView dqkv) {
  check_cpu(context);
  check_shapes(shape, qkv, probabilities, dout);
  check_tensor(dqkv, qkv.dtype, qkv.shape, "dqkv");
  cpu::attention_backward(context, shape, dout, qkv, probabilities, dropout, dqkv);
}

}  // namespace podium::ops
