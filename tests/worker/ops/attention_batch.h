// Attention over one batch, forward and back.
#pragma once

#include "tests/worker/ops/op_check.h"
#include "worker/ops/attention.h"

namespace podium::test {

struct Attention {
  Attention(DType type, const ops::AttentionShape& s)
      : shape(s),
        qkv(tensor_of(random_values(s.rows() * 3 * s.hidden(), 1), type, {s.rows(), 3 * s.hidden()})),
        dout(tensor_of(random_values(s.rows() * s.hidden(), 2), type, {s.rows(), s.hidden()})),
        out(type, {s.rows(), s.hidden()}),
        dqkv(type, {s.rows(), 3 * s.hidden()}),
        column_sums(
            tensor_of(Values(static_cast<std::size_t>(3 * s.hidden())), DType::f32, {3 * s.hidden()})) {}

  void forward(Context& context) {
    const ops::AttentionSaved kept = ops::attention_saved(context, shape, qkv.dtype(), dropout);
    saved = Tensor(kept.dtype, {kept.count});
    ops::attention_forward(context, shape, qkv.view(), valid, dropout, saved.view(), out.view());
  }
  void backward(Context& context) {
    ops::attention_backward(context, shape, dout.view(), out.view(), qkv.view(), valid, saved.view(), dropout,
                            dqkv.view(), column_sums.view());
  }

  const ops::Dropout dropout = ops::make_dropout(0.1, philox_key(1, 2), 3, 4);
  ops::AttentionShape shape;
  std::vector<std::int32_t> valid;
  Tensor qkv, dout, out, dqkv, column_sums, saved;
};

}  // namespace podium::test
