#include "worker/ops/attention.h"

#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

// A batch and how it is attended to.
struct Case {
  ops::AttentionShape shape;
  std::vector<std::int32_t> valid = {};
  double dropout = 0.0;
  bool store = true;  // what forward can keep for backward
};

constexpr ops::AttentionShape kShape{.sequences = 2, .length = 6, .heads = 2, .head_size = 4};
constexpr ops::AttentionShape kCausal{
    .sequences = 2, .length = 6, .heads = 2, .head_size = 4, .causal = true};
const std::vector<std::int32_t> kValid = {6, 4};
const std::vector<std::int32_t> kBegins = {0, 6, 10};  // the same sequences without their padding

ops::Dropout dropout_of(const Case& c) { return ops::make_dropout(c.dropout, philox_key(5, 6), 7, 24); }

constexpr float kSumsBefore = 3.0F;  // what the column sums of dqkv are added to

// The tolerance is for dqkv's rounding to `type`, which the sums need not have.
void expect_column_sums(const Values& dqkv, const Values& sums, DType type) {
  const double rounding = type == DType::bf16 ? 1.0 / 256 : type == DType::f16 ? 1.0 / 2048 : 1e-6;
  for (std::size_t column = 0; column < sums.size(); ++column) {
    double sum = kSumsBefore, size = kSumsBefore;
    for (std::size_t i = column; i < dqkv.size(); i += sums.size()) sum += dqkv[i], size += std::abs(dqkv[i]);
    ASSERT_NEAR(sums[column], sum, rounding * size) << "column " << column;
  }
}

// Input: qkv.
OpRun attention(const Case& c, Context& context, DType type, const std::vector<Values>& inputs,
                const Values& dy) {
  const ops::AttentionShape& s = c.shape;
  const Tensor qkv = tensor_of(inputs[0], type, {s.rows(), 3 * s.hidden()});
  const ops::AttentionSaved kept = ops::attention_saved(context, s, type, dropout_of(c));
  Tensor store(kept.dtype, {kept.count}), out(type, {s.rows(), s.hidden()});
  const TensorView saved = c.store ? store.view() : TensorView{};
  ops::attention_forward(context, s, qkv.view(), c.valid, dropout_of(c), saved, out.view());
  if (dy.empty()) return {values_of(out), {}};
  const Tensor dout = tensor_of(dy, type, {s.rows(), s.hidden()});
  Tensor dqkv(type, {s.rows(), 3 * s.hidden()});
  Tensor sums =
      tensor_of(Values(static_cast<std::size_t>(3 * s.hidden()), kSumsBefore), DType::f32, {3 * s.hidden()});
  ops::attention_backward(context, s, dout.view(), out.view(), qkv.view(), c.valid, saved, dropout_of(c),
                          dqkv.view(), sums.view());
  expect_column_sums(values_of(dqkv), values_of(sums), type);
  return {values_of(out), {values_of(dqkv)}};
}

Values random_qkv(const ops::AttentionShape& s) { return random_values(s.rows() * 3 * s.hidden(), 1); }

// Whether the dropout keeps a key, asked of the dropout op itself.
std::vector<bool> kept_keys(const ops::Dropout& dropout, std::int64_t row, std::int64_t keys) {
  Context context = make_context(1);
  ops::Dropout one_row = dropout;
  one_row.first_row.value += static_cast<std::uint64_t>(row);
  Tensor ones = tensor_of(Values(static_cast<std::size_t>(keys), 1.0F), DType::f32, {1, keys});
  ops::dropout(context, ones.view(), one_row, ones.view());
  std::vector<bool> kept;
  for (const float v : values_of(ones)) kept.push_back(v != 0.0F);
  return kept;
}

// One sequence's head in a tensor of the test.
struct HeadRows {
  std::int64_t first, rows, valid, column;
};

HeadRows head_rows(const Case& c, std::int64_t sequence, std::int64_t head) {
  const ops::AttentionShape& s = c.shape;
  const auto i = static_cast<std::size_t>(sequence);
  const std::int64_t first = s.row_begins.empty() ? sequence * s.length : s.row_begins[i];
  const std::int64_t rows = s.row_begins.empty() ? s.length : s.row_begins[i + 1] - first;
  return {first, rows, c.valid.empty() ? rows : c.valid[i], head * s.head_size};
}

// The formula and its gradient in double, query by query.
class Formula {
 public:
  // dy: as for an Op.
  Formula(const Case& c, const Values& qkv, const Values& dy)
      : c_(c),
        s_(c.shape),
        qkv_(qkv),
        dy_(dy),
        scale_(1 / std::sqrt(static_cast<double>(s_.head_size))),
        out_(static_cast<std::size_t>(s_.rows() * s_.hidden())),
        dqkv_(qkv.size()) {
    const std::int64_t total = s_.total_heads > 0 ? s_.total_heads : s_.heads;
    for (std::int64_t n = 0; n < s_.sequences; ++n) {
      for (std::int64_t head = 0; head < s_.heads; ++head) {
        const HeadRows rows = head_rows(c, n, head);
        for (std::int64_t query = 0; query < rows.rows; ++query)
          add_query(rows, query, (n * total + s_.first_head + head) * s_.length + query);
      }
    }
  }

  OpRun run() const {
    const auto rounded = [](const std::vector<double>& values) {
      return Values(values.begin(), values.end());
    };
    return {rounded(out_), {rounded(dqkv_)}};
  }

 private:
  std::size_t at(std::int64_t row, std::int64_t part, std::int64_t column) const {
    return static_cast<std::size_t>((row * 3 + part) * s_.hidden() + column);
  }
  // Of a row's part of qkv with a row's part of another tensor.
  double product(const Values& a, std::size_t i, const Values& b, std::size_t j) const {
    double sum = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(s_.head_size); ++d)
      sum += static_cast<double>(a[i + d]) * b[j + d];
    return sum;
  }
  // to[j...] += factor * from[i...]
  void add(double factor, const Values& from, std::size_t i, std::vector<double>& to, std::size_t j) const {
    for (std::size_t d = 0; d < static_cast<std::size_t>(s_.head_size); ++d)
      to[j + d] += factor * from[i + d];
  }

  void add_query(const HeadRows& head, std::int64_t query, std::int64_t dropout_row) {
    const ops::Dropout dropout = dropout_of(c_);
    const std::vector<bool> kept = kept_keys(dropout, dropout_row, s_.length);
    const auto keys = static_cast<std::size_t>(s_.causal ? std::min(head.valid, query + 1) : head.valid);
    const std::size_t q = at(head.first + query, 0, head.column);
    const auto out = static_cast<std::size_t>((head.first + query) * s_.hidden() + head.column);
    const auto key_at = [&](std::size_t key, std::int64_t part) {
      return at(head.first + static_cast<std::int64_t>(key), part, head.column);
    };
    std::vector<double> p(keys), dd(keys);
    double sum = 0, delta = 0;
    for (std::size_t j = 0; j < keys; ++j)
      sum += p[j] = std::exp(product(qkv_, q, qkv_, key_at(j, 1)) * scale_);
    for (std::size_t j = 0; j < keys; ++j) {
      p[j] /= sum;
      if (kept[j]) add(p[j] * dropout.scale, qkv_, key_at(j, 2), out_, out);
    }
    if (dy_.empty()) return;
    for (std::size_t j = 0; j < keys; ++j) {
      dd[j] = kept[j] ? product(dy_, out, qkv_, key_at(j, 2)) * dropout.scale : 0;
      delta += p[j] * dd[j];
    }
    for (std::size_t j = 0; j < keys; ++j) {
      const double ds = p[j] * (dd[j] - delta) * scale_;
      add(ds, qkv_, key_at(j, 1), dqkv_, q);
      add(ds, qkv_, q, dqkv_, key_at(j, 1));
      if (kept[j]) add(p[j] * dropout.scale, dy_, out, dqkv_, key_at(j, 2));
    }
  }

  const Case& c_;
  const ops::AttentionShape& s_;
  const Values& qkv_;
  const Values& dy_;
  double scale_;
  std::vector<double> out_, dqkv_;
};

OpRun formula(const Case& c, const Values& qkv, const Values& dy = {}) { return Formula(c, qkv, dy).run(); }

std::vector<Case> small_cases() {
  ops::AttentionShape packed = kShape, packed_causal = kCausal, half_the_heads = kShape;
  packed.row_begins = packed_causal.row_begins = kBegins;
  packed.packed_rows = packed_causal.packed_rows = kBegins.back();
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
    expect_close(attention(c, context, DType::f32, {qkv}, {}).y, formula(c, qkv).y, 1e-5, "out");
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
    expect_close(attention(c, context, DType::f32, {qkv}, {}).y, formula(c, qkv).y, 1e-5, "out");
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
    const double slope = (dot(dy, formula(c, above).y) - dot(dy, formula(c, below).y)) * 8;
    const double expected = dot(direction, attention(c, context, DType::f32, {qkv}, dy).gradients[0]);
    EXPECT_NEAR(slope, expected, 1e-3 * std::abs(expected) + 1e-3);
  }
}

// Head sizes and lengths around those of the device's tiles, with each kind of mask.
std::vector<Case> many_sizes() {
  const auto shape = [](std::int64_t head_size, std::int64_t length, bool causal) {
    return ops::AttentionShape{
        .sequences = 2, .length = length, .heads = 2, .head_size = head_size, .causal = causal};
  };
  static const std::vector<std::int32_t> begins = {0, 100, 101};
  ops::AttentionShape packed = shape(64, 100, false), packed_causal = shape(80, 100, true);
  packed.row_begins = packed_causal.row_begins = begins;
  packed.packed_rows = packed_causal.packed_rows = begins.back();
  packed.first_head = 1, packed.total_heads = 5;
  return {{shape(16, 1, false)},
          {shape(32, 17, true), {}, 0.5},
          {shape(64, 64, false)},
          {shape(64, 200, true), {200, 65}, 0.1},
          {shape(64, 128, false), {128, 1}, 0.3, false},
          {shape(64, 100, false), {100, 40}, 0.1},
          {shape(64, 100, true), {40, 100}, 0.1},
          {shape(72, 128, false), {127, 63}},
          {shape(96, 100, false), {100, 70}, 0.1},
          {shape(128, 130, true), {}, 0.1},
          {shape(12, 70, true), {70, 33}, 0.1},
          {shape(160, 33, false), {33, 32}, 0.1},
          {packed, {}, 0.2},
          {packed_causal, {}, 0.2}};
}

TEST(Attention, AgreesWithTheFormulaAtManySizes) {
  Context context = make_context(2);
  int number = 0;
  for (const Case& c : many_sizes()) {
    const Values qkv = random_qkv(c.shape), dy = random_values(c.shape.rows() * c.shape.hidden(), 3);
    const OpRun expected = formula(c, qkv, dy);
    for (const DType type : {DType::bf16, DType::f16}) {
      SCOPED_TRACE(std::to_string(number) + " " + std::string(to_string(type)));
      const double tolerance = type == DType::bf16 ? 6e-3 : 1e-3;
      const OpRun actual = attention(c, context, type, {qkv}, dy);
      expect_close(actual.y, expected.y, tolerance, "out");
      expect_close(actual.gradients[0], expected.gradients[0], tolerance, "dqkv");
    }
    ++number;
  }
}

TEST(Attention, ComputesTheSameAgainAsItStored) {
  Context context = make_context(2);
  for (const DType type : {DType::f32, DType::bf16}) {
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

// Rows behind the last sequence fill a batch up to a size that others have, too.
TEST(Attention, LeavesRowsOfNoSequenceAlone) {
  Context context = make_context(2);
  constexpr float kUntouched = 5.0F;
  constexpr std::int64_t kFiller = 3;
  for (const std::int64_t head_size : {4, 8}) {  // by each way of the device
    for (const DType type : {DType::f32, DType::bf16}) {
      SCOPED_TRACE(std::to_string(head_size) + " " + std::string(to_string(type)));
      ops::AttentionShape s{.sequences = 2, .length = 6, .heads = 2, .head_size = head_size};
      s.row_begins = kBegins, s.packed_rows = kBegins.back() + kFiller;
      const std::int64_t wide = 3 * s.hidden();
      const auto with_filler = [&](std::int64_t width, float filler) {
        Values values(static_cast<std::size_t>(s.rows() * width));
        std::fill(values.end() - kFiller * width, values.end(), filler);
        return tensor_of(values, type, {s.rows(), width});
      };
      const auto expect_filler = [&](const Tensor& tensor, std::int64_t width, float filler) {
        const Values all = values_of(tensor);
        EXPECT_EQ(Values(all.end() - kFiller * width, all.end()),
                  Values(static_cast<std::size_t>(kFiller * width), filler));
      };
      const Tensor qkv = tensor_of(random_qkv(s), type, {s.rows(), wide});
      const Tensor dout = tensor_of(random_values(s.rows() * s.hidden(), 3), type, {s.rows(), s.hidden()});
      Tensor out = with_filler(s.hidden(), kUntouched), dqkv = with_filler(wide, kUntouched);
      ops::attention_forward(context, s, qkv.view(), {}, {}, {}, out.view());
      expect_filler(out, s.hidden(), kUntouched);
      ops::attention_backward(context, s, dout.view(), out.view(), qkv.view(), {}, {}, {}, dqkv.view());
      expect_filler(dqkv, wide, kUntouched);

      Tensor summed = with_filler(wide, 0.0F);
      Tensor sums = tensor_of(Values(static_cast<std::size_t>(wide), kSumsBefore), DType::f32, {wide});
      ops::attention_backward(context, s, dout.view(), out.view(), qkv.view(), {}, {}, {}, summed.view(),
                              sums.view());
      expect_filler(summed, wide, 0.0F);
      expect_column_sums(values_of(summed), values_of(sums), type);
    }
  }
}

TEST(Attention, WithoutPaddingIsThatOfTheValidRows) {
  Context context = make_context(2);
  const Values qkv = random_qkv(kShape);
  const auto rows = [](const Values& all, std::int64_t width) {  // without the second sequence's padding
    return Values(all.begin(), all.begin() + kBegins[2] * width);
  };
  ops::AttentionShape packed = kShape;
  packed.row_begins = kBegins, packed.packed_rows = kBegins.back();
  const Values padded = attention({kShape, kValid, 0.3}, context, DType::f32, {qkv}, {}).y;
  const Values alone =
      attention({packed, {}, 0.3}, context, DType::f32, {rows(qkv, 3 * kShape.hidden())}, {}).y;
  expect_close(alone, rows(padded, kShape.hidden()), 1e-6, "out");
}

}  // namespace
}  // namespace podium::test
