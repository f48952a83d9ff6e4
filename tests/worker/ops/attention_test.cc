#include "worker/ops/attention.h"

#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

constexpr ops::AttentionShape kShape{.sequences = 2, .length = 6, .heads = 2, .head_size = 4};
const std::vector<std::int32_t> kValid = {6, 4};

// Input: qkv.
OpRun attention(double probability, Context& context, DType type, const std::vector<Values>& inputs,
                const Values& dy) {
  const ops::Dropout dropout = ops::make_dropout(probability, philox_key(5, 6), 7, 0);
  const Tensor qkv = tensor_of(inputs[0], type, {kShape.rows(), 3 * kShape.hidden()});
  Tensor probabilities(type, {kShape.sequences, kShape.heads, kShape.length, kShape.length});
  Tensor out(type, {kShape.rows(), kShape.hidden()});
  ops::attention_forward(context, kShape, qkv.view(), kValid, dropout, probabilities.view(), out.view());
  if (dy.empty()) return {values_of(out), {}};
  const Tensor dout = tensor_of(dy, type, {kShape.rows(), kShape.hidden()});
  Tensor dqkv(type, {kShape.rows(), 3 * kShape.hidden()});
  ops::attention_backward(context, kShape, dout.view(), qkv.view(), probabilities.view(), dropout,
                          dqkv.view());
  return {values_of(out), {values_of(dqkv)}};
}

Values random_qkv() { return random_values(kShape.rows() * 3 * kShape.hidden(), 1); }

TEST(Attention, PassesTheOpChecksWithPaddingWithAndWithoutDropout) {
  for (const double probability : {0.0, 0.3}) {
    SCOPED_TRACE(probability);
    check_op(std::bind_front(attention, probability), {random_qkv()});
  }
}

TEST(Attention, AgreesWithTheFormulaInDouble) {
  Context context{.threads = 2};
  const Values qkv = random_qkv(), out = attention(0.0, context, DType::f32, {qkv}, {}).y;
  const auto at = [&](std::int64_t row, std::int64_t part, std::int64_t column) -> double {
    return qkv[static_cast<std::size_t>((row * 3 + part) * kShape.hidden() + column)];
  };
  for (std::int64_t s = 0; s < kShape.sequences; ++s) {
    for (std::int64_t i = 0; i < kShape.length; ++i) {
      for (std::int64_t c = 0; c < kShape.hidden(); ++c) {
        const std::int64_t head = c / kShape.head_size * kShape.head_size;
        double weights = 0, sum = 0;
        for (std::int64_t j = 0; j < kValid[static_cast<std::size_t>(s)]; ++j) {
          double score = 0;
          for (std::int64_t d = head; d < head + kShape.head_size; ++d) {
            score += at(s * kShape.length + i, 0, d) * at(s * kShape.length + j, 1, d);
          }
          const double weight = std::exp(score / std::sqrt(kShape.head_size));
          weights += weight;
          sum += weight * at(s * kShape.length + j, 2, c);
        }
        EXPECT_NEAR(out[static_cast<std::size_t>((s * kShape.length + i) * kShape.hidden() + c)],
                    sum / weights, 1e-5);
      }
    }
  }
}

TEST(Attention, PaddingHasNoInfluence) {
  Context context{.threads = 2};
  Values qkv = random_qkv();
  const Values before = attention(0.0, context, DType::f32, {qkv}, {}).y;
  const std::int64_t padded = kShape.length + kValid[1];  // the second sequence's first padding row
  for (std::int64_t c = kShape.hidden(); c < 3 * kShape.hidden(); ++c) {
    qkv[static_cast<std::size_t>(padded * 3 * kShape.hidden() + c)] += 100;
  }
  EXPECT_EQ(attention(0.0, context, DType::f32, {qkv}, {}).y, before);
}

}  // namespace
}  // namespace podium::test
