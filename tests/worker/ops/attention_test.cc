#include "worker/ops/attention.h"

#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

// A batch and how it is attended to.
struct Case {
  ops::AttentionShape shape;
  std::vector<std::int32_t> valid = {};
  double dropout = 0.0;
  bool store = true;  // the probabilities, from forward to backward
};

constexpr ops::AttentionShape kShape{.sequences = 2, .length = 6, .heads = 2, .head_size = 4};
constexpr ops::AttentionShape kCausal{
    .sequences = 2, .length = 6, .heads = 2, .head_size = 4, .causal = true};
const std::vector<std::int32_t> kValid = {6, 4};
const std::vector<std::int32_t> kBegins = {0, 6, 10};  // the same sequences without their padding

ops::Dropout dropout_of(const Case& c) { return ops::make_dropout(c.dropout, philox_key(5, 6), 7, 24); }

// Input: qkv.
OpRun attention(const Case& c, Context& context, DType type, const std::vector<Values>& inputs,
                const Values& dy) {
  const ops::AttentionShape& s = c.shape;
  const Tensor qkv = tensor_of(inputs[0], type, {s.rows(), 3 * s.hidden()});
  Tensor kept(type, {ops::attention_probabilities(s)}), out(type, {s.rows(), s.hidden()});
  const TensorView probabilities = c.store ? kept.view() : TensorView{};
  ops::attention_forward(context, s, qkv.view(), c.valid, dropout_of(c), probabilities, out.view());
  if (dy.empty()) return {values_of(out), {}};
  const Tensor dout = tensor_of(dy, type, {s.rows(), s.hidden()});
  Tensor dqkv(type, {s.rows(), 3 * s.hidden()});
  ops::attention_backward(context, s, dout.view(), qkv.view(), c.valid, probabilities, dropout_of(c),
                          dqkv.view());
  return {values_of(out), {values_of(dqkv)}};
}

Values random_qkv(const ops::AttentionShape& s) { return random_values(s.rows() * 3 * s.hidden(), 1); }

// Whether the dropout keeps a key, asked of the dropout op itself.
std::vector<bool> kept_keys(const ops::Dropout& dropout, std::int64_t row, std::int64_t keys) {
  Context context = make_context(1);
  ops::Dropout one_row = dropout;
  one_row.first_row += static_cast<std::uint64_t>(row);
  Tensor ones = tensor_of(Values(static_cast<std::size_t>(keys), 1.0F), DType::f32, {1, keys});
  ops::dropout(context, ones.view(), one_row);
  std::vector<bool> kept;
  for (const float v : values_of(ones)) kept.push_back(v != 0.0F);
  return kept;
}

// The formula in double, query by query.
Values formula(const Case& c, const Values& qkv) {
  const ops::AttentionShape& s = c.shape;
  const ops::Dropout dropout = dropout_of(c);
  const std::int64_t total = s.total_heads > 0 ? s.total_heads : s.heads;
  Values out(static_cast<std::size_t>(s.rows() * s.hidden()));
  const auto at = [&](std::int64_t row, std::int64_t part, std::int64_t column) -> double {
    return qkv[static_cast<std::size_t>((row * 3 + part) * s.hidden() + column)];
  };
  for (std::int64_t n = 0; n < s.sequences; ++n) {
    const auto i = static_cast<std::size_t>(n);
    const std::int64_t first = s.row_begins.empty() ? n * s.length : s.row_begins[i];
    const std::int64_t rows = s.row_begins.empty() ? s.length : s.row_begins[i + 1] - first;
    const std::int64_t valid = c.valid.empty() ? rows : c.valid[i];
    for (std::int64_t head = 0; head < s.heads; ++head) {
      const std::int64_t begin = head * s.head_size, end = begin + s.head_size;
      for (std::int64_t query = 0; query < rows; ++query) {
        const std::int64_t row = (n * total + s.first_head + head) * s.length + query;
        const std::vector<bool> kept = kept_keys(dropout, row, s.length);
        std::vector<double> sum(static_cast<std::size_t>(s.head_size), 0.0);
        double weights = 0;
        for (std::int64_t key = 0; key < (s.causal ? std::min(valid, query + 1) : valid); ++key) {
          double score = 0;
          for (std::int64_t d = begin; d < end; ++d) score += at(first + query, 0, d) * at(first + key, 1, d);
          const double weight = std::exp(score / std::sqrt(static_cast<double>(s.head_size)));
          weights += weight;
          if (!kept[static_cast<std::size_t>(key)]) continue;
          for (std::int64_t d = begin; d < end; ++d)
            sum[static_cast<std::size_t>(d - begin)] += weight * dropout.scale * at(first + key, 2, d);
        }
        for (std::int64_t d = begin; d < end; ++d) {
          out[static_cast<std::size_t>((first + query) * s.hidden() + d)] =
              static_cast<float>(sum[static_cast<std::size_t>(d - begin)] / weights);
        }
      }
    }
  }
  return out;
}

std::vector<Case> small_cases() {
  ops::AttentionShape packed = kShape, packed_causal = kCausal, half_the_heads = kShape;
  packed.row_begins = packed_causal.row_begins = kBegins;
  half_the_heads.first_head = 3, half_the_heads.total_heads = 7;
  std::vector<Case> cases;
  for (const double dropout : {0.0, 0.3}) {
    cases.push_back({kShape, kValid, dropout});
    cases.push_back({kCausal, {}, dropout});
    cases.push_back({packed, {}, dropout});
    cases.push_back({packed_causal, {}, dropout});
    cases.push_back({half_the_heads, kValid, dropout, false});
  }
  return cases;
}

TEST(Attention, PassesTheOpChecks) {
  int number = 0;
  for (const Case& c : small_cases()) {
    SCOPED_TRACE(number++);
    check_op(std::bind_front(attention, c), {random_qkv(c.shape)});
  }
}

TEST(Attention, AgreesWithTheFormulaInDouble) {
  Context context = make_context(2);
  int number = 0;
  for (const Case& c : small_cases()) {
    SCOPED_TRACE(number++);
    const Values qkv = random_qkv(c.shape);
    expect_close(attention(c, context, DType::f32, {qkv}, {}).y, formula(c, qkv), 1e-5, "out");
  }
}

// Long enough for several blocks of queries, of which the last is not whole.
ops::AttentionShape long_shape(bool causal) {
  return {.sequences = 2, .length = 150, .heads = 2, .head_size = 8, .causal = causal};
}

TEST(Attention, InBlocksAgreesWithTheFormula) {
  Context context = make_context(2);
  for (const bool causal : {false, true}) {
    const Case c{long_shape(causal),
                 causal ? std::vector<std::int32_t>{} : std::vector<std::int32_t>{150, 131}, 0.2};
    const Values qkv = random_qkv(c.shape);
    expect_close(attention(c, context, DType::f32, {qkv}, {}).y, formula(c, qkv), 1e-5, "out");
  }
}

// The gradient of dot(dy, out) along one direction, by the formula in double.
TEST(Attention, InBlocksHasTheFormulasGradient) {
  Context context = make_context(2);
  for (const bool causal : {false, true}) {
    const Case c{long_shape(causal), {}, 0.2};
    const Values qkv = random_qkv(c.shape), direction = random_values(std::ssize(qkv), 2, 1.0 / 16);
    const Values dy = random_values(c.shape.rows() * c.shape.hidden(), 3);
    Values above = qkv, below = qkv;
    for (std::size_t i = 0; i < qkv.size(); ++i) {
      above[i] += direction[i] / 16;
      below[i] -= direction[i] / 16;
    }
    const double slope = (dot(dy, formula(c, above)) - dot(dy, formula(c, below))) * 8;
    const double expected = dot(direction, attention(c, context, DType::f32, {qkv}, dy).gradients[0]);
    EXPECT_NEAR(slope, expected, 1e-3 * std::abs(expected) + 1e-3);
  }
}

TEST(Attention, ComputesTheSameProbabilitiesAgainAsItStored) {
  Context context = make_context(2);
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    for (const bool causal : {false, true}) {
      const ops::AttentionShape shape = long_shape(causal);
      const Values qkv = random_qkv(shape), dy = random_values(shape.rows() * shape.hidden(), 3);
      const OpRun stored = attention({shape, {}, 0.2, true}, context, type, {qkv}, dy);
      const OpRun again = attention({shape, {}, 0.2, false}, context, type, {qkv}, dy);
      EXPECT_EQ(stored.y, again.y);
      EXPECT_EQ(stored.gradients, again.gradients);
    }
  }
}

TEST(Attention, PaddingHasNoInfluence) {
  Context context = make_context(2);
  const Case c{kShape, kValid};
  Values qkv = random_qkv(kShape);
  const Values before = attention(c, context, DType::f32, {qkv}, {}).y;
  const std::int64_t padded = kShape.length + kValid[1];  // the second sequence's first padding row
  for (std::int64_t i = kShape.hidden(); i < 3 * kShape.hidden(); ++i) {
    qkv[static_cast<std::size_t>(padded * 3 * kShape.hidden() + i)] += 100;
  }
  EXPECT_EQ(attention(c, context, DType::f32, {qkv}, {}).y, before);
}

TEST(Attention, WithoutPaddingIsThatOfTheValidRows) {
  Context context = make_context(2);
  const Values qkv = random_qkv(kShape);
  const auto rows = [](const Values& all, std::int64_t width) {  // without the second sequence's padding
    return Values(all.begin(), all.begin() + kBegins[2] * width);
  };
  ops::AttentionShape packed = kShape;
  packed.row_begins = kBegins;
  const Values padded = attention({kShape, kValid, 0.3}, context, DType::f32, {qkv}, {}).y;
  const Values alone =
      attention({packed, {}, 0.3}, context, DType::f32, {rows(qkv, 3 * kShape.hidden())}, {}).y;
  expect_close(alone, rows(padded, kShape.hidden()), 1e-6, "out");
}

}  // namespace
}  // namespace podium::test
