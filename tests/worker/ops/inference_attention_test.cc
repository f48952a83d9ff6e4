#include "worker/ops/inference_attention.h"

#include "tests/worker/ops/quantised_values.h"

namespace podium::test {
namespace {

struct AttentionCase {
  AttentionCase(DType type, const ops::AttentionShape& s)
      : shape(s),
        qkv(tensor_of(random_values(s.rows() * 3 * s.hidden(), 1), type, {s.rows(), 3 * s.hidden()})),
        exact(type, {s.rows(), s.hidden()}) {
    for (std::int64_t i = 0; i < s.sequences; ++i)
      valid.push_back(static_cast<std::int32_t>(i % 2 == 0 ? s.length : s.length / 2 + 1));
  }

  ops::AttentionShape shape;
  Tensor qkv, exact;
  std::vector<std::int32_t> valid;
};

// Few sequences, short and long, of small and large heads; and so many that blocks abound.
const std::vector<ops::AttentionShape> kShapes{{.sequences = 2, .length = 70, .heads = 3, .head_size = 64},
                                               {.sequences = 1, .length = 150, .heads = 2, .head_size = 16},
                                               {.sequences = 1, .length = 300, .heads = 1, .head_size = 64},
                                               {.sequences = 3, .length = 5, .heads = 2, .head_size = 40},
                                               {.sequences = 70, .length = 10, .heads = 2, .head_size = 32}};

TEST(InferenceAttention, IsThatOfTraining) {
  Context context = make_context(2);
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    for (const ops::AttentionShape& shape : kShapes) {
      SCOPED_TRACE(testing::Message() << to_string(type) << " length " << shape.length);
      AttentionCase c(type, shape);
      Tensor expected(type, c.exact.shape());
      ops::attention_forward(context, shape, c.qkv.view(), c.valid, {}, {}, expected.view());
      ops::inference_attention(context, shape, c.qkv.view(), c.valid, c.exact.view());
      const double tolerance = type == DType::f32 ? 1e-6 : type == DType::bf16 ? 6e-3 : 1e-3;
      expect_close(values_of(c.exact), values_of(expected), tolerance, "out");
    }
  }
}

TEST(InferenceAttention, QuantisesWhatItComputes) {
  Context context = make_context(2);
  for (const ops::AttentionShape& shape : kShapes) {
    AttentionCase c(DType::f16, shape);
    ops::inference_attention(context, shape, c.qkv.view(), c.valid, c.exact.view());
    for (const DType type : {DType::i8, DType::e4m3}) {
      SCOPED_TRACE(testing::Message() << to_string(type) << " length " << shape.length);
      Tensor out(type, c.exact.shape());
      const float scale = type == DType::i8 ? 0.01F : 0.002F;
      ops::inference_attention(context, shape, c.qkv.view(), c.valid, out.view(), scale);
      expect_quantised(out, values_of(c.exact), scale, 1e-3);
    }
  }
}

}  // namespace
}  // namespace podium::test
