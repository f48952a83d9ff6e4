#include "worker/ops/inference_attention.h"

#include "tests/worker/ops/quantised_values.h"

namespace podium::test {
namespace {

TEST(InferenceAttention, QuantisesWhatAttentionComputes) {
  Context context = make_context(2);
  for (const std::int64_t head_size : {16, 64}) {
    const ops::AttentionShape shape{.sequences = 2, .length = 70, .heads = 3, .head_size = head_size};
    const Shape out_shape{shape.rows(), shape.hidden()};
    const std::vector<std::int32_t> valid{70, 33};
    const Tensor qkv = tensor_of(random_values(shape.rows() * 3 * shape.hidden(), 1), DType::f16,
                                 {shape.rows(), 3 * shape.hidden()});
    Tensor exact(DType::f16, out_shape);
    ops::inference_attention(context, shape, qkv.view(), valid, exact.view());
    for (const DType type : {DType::i8, DType::e4m3}) {
      SCOPED_TRACE(testing::Message() << to_string(type) << " " << head_size);
      Tensor out(type, out_shape);
      const float scale = type == DType::i8 ? 0.01F : 0.002F;
      ops::inference_attention(context, shape, qkv.view(), valid, out.view(), scale);
      expect_quantised(out, values_of(exact), scale, 1e-3);
    }
  }
}

}  // namespace
}  // namespace podium::test
