// Rows that come piece by piece against attention and turns over whole sequences, written out in double
// precision.
#include "worker/ops/cached_attention.h"

#include <cmath>
#include <utility>

#include "tests/worker/ops/op_check.h"
#include "worker/ops/rotary_heads.h"

namespace podium::test {
namespace {

constexpr double kTheta = 50.0;

struct CacheCase {
  std::int64_t heads, key_value_heads, head_size;
  bool rotary;
};
const std::vector<CacheCase> kCacheCases{
    {4, 4, 16, false}, {4, 2, 8, true}, {3, 1, 64, true}, {2, 2, 10, false}, {2, 1, 136, true}};

// Rows of a sequence that pass together.
struct Part {
  std::int32_t slot;
  std::int32_t begin, end;  // positions
};

class CachedSequences {
 public:
  CachedSequences(const CacheCase& c, DType type) : c_(c), type_(type) {
    const Shape shape{kSlots, c.key_value_heads, kPositions, c.head_size};
    keys_ = Tensor(type, shape);
    values_ = Tensor(type, shape);
    if (c.rotary)
      table_ = tensor_of(ops::rotary_table(kTheta, kPositions, c.head_size), DType::f32,
                         {kPositions, c.head_size});
  }

  // What the row of a slot at a position projects to, always the same.
  Values row(std::int32_t slot, std::int32_t position) const {
    return random_values(projected(), static_cast<std::uint64_t>(100 * slot + position));
  }

  Values run(Context& context, const std::vector<Part>& parts) {
    std::vector<std::int32_t> slots, positions;
    Values x;
    for (const auto& [slot, begin, end] : parts)
      for (std::int32_t position = begin; position < end; ++position) {
        slots.push_back(slot);
        positions.push_back(position);
        const Values own = row(slot, position);
        x.insert(x.end(), own.begin(), own.end());
      }
    ops::CachedRows rows{c_.heads, c_.key_value_heads, c_.head_size, slots, positions};
    if (c_.rotary) rows.table = std::as_const(table_).view();
    const auto count = static_cast<std::int64_t>(slots.size());
    Tensor projection = tensor_of(x, type_, {count, projected()}),
           out(type_, {count, c_.heads * c_.head_size});
    ops::cache_rows(context, rows, projection.view(), keys_.view(), values_.view());
    ops::cached_attention(context, rows, projection.view(), std::as_const(keys_).view(),
                          std::as_const(values_).view(), out.view());
    return values_of(out);
  }

  // By the formulas, in double precision.
  Values expected(std::int32_t slot, std::int32_t position) const {
    const std::int64_t d = c_.head_size, group = c_.heads / c_.key_value_heads;
    Values out;
    for (std::int64_t head = 0; head < c_.heads; ++head) {
      const std::vector<double> query = turned(row(slot, position), head, position);
      std::vector<double> weights, sums(static_cast<std::size_t>(d), 0.0);
      double all = 0;
      for (std::int32_t key = 0; key <= position; ++key) {
        const std::vector<double> own = turned(row(slot, key), c_.heads + head / group, key);
        double product = 0;
        for (std::size_t i = 0; i < own.size(); ++i) product += query[i] * own[i];
        weights.push_back(std::exp(product / std::sqrt(static_cast<double>(d))));
        all += weights.back();
      }
      for (std::int32_t key = 0; key <= position; ++key) {
        const Values whole = row(slot, key);
        const std::int64_t at = (c_.heads + c_.key_value_heads + head / group) * d;
        for (std::int64_t i = 0; i < d; ++i)
          sums[static_cast<std::size_t>(i)] += weights[static_cast<std::size_t>(key)] / all *
                                               static_cast<double>(whole[static_cast<std::size_t>(at + i)]);
      }
      for (const double sum : sums) out.push_back(static_cast<float>(sum));
    }
    return out;
  }

  static constexpr std::int64_t kSlots = 3, kPositions = 40;

 private:
  std::int64_t projected() const { return (c_.heads + 2 * c_.key_value_heads) * c_.head_size; }

  std::vector<double> turned(const Values& row, std::int64_t head, std::int32_t position) const {
    const std::int64_t d = c_.head_size, half = d / 2;
    const auto at = [&](std::int64_t i) {
      return static_cast<double>(row[static_cast<std::size_t>(head * d + i)]);
    };
    std::vector<double> result;
    for (std::int64_t i = 0; i < d; ++i) {
      const double angle =
          c_.rotary
              ? position * std::pow(kTheta, -2.0 * static_cast<double>(i % half) / static_cast<double>(d))
              : 0;
      const double other = i < half ? -at(i + half) : at(i - half);
      result.push_back(at(i) * std::cos(angle) + other * std::sin(angle));
    }
    return result;
  }

  CacheCase c_;
  DType type_;
  Tensor keys_, values_, table_;
};

// A text that is read whole, others that go on by one or by some rows, in one pass and in several.
const std::vector<std::vector<Part>> kPasses{{{1, 0, 19}, {0, 0, 3}},
                                             {{0, 3, 4}, {2, 0, 1}, {1, 19, 20}},
                                             {{2, 1, 8}, {1, 20, 21}, {0, 4, 40}},
                                             {{1, 21, 22}, {2, 8, 9}}};

void expect_formula(DType type, double tolerance) {
  for (const CacheCase& c : kCacheCases) {
    SCOPED_TRACE(testing::Message() << to_string(type) << ", heads of " << c.head_size);
    Context context = make_context(2);
    CachedSequences sequences(c, type);
    for (const std::vector<Part>& parts : kPasses) {
      Values expected;
      for (const auto& [slot, begin, end] : parts)
        for (std::int32_t position = begin; position < end; ++position) {
          const Values own = sequences.expected(slot, position);
          expected.insert(expected.end(), own.begin(), own.end());
        }
      expect_close(sequences.run(context, parts), expected, tolerance, "out");
    }
  }
}

TEST(CachedAttention, IsThatOfWholeSequences) { expect_formula(DType::f32, 1e-5); }
TEST(CachedAttention, AlsoInSixteenBits) {
  expect_formula(DType::bf16, 1e-2);
  expect_formula(DType::f16, 2e-3);
}

// Of large scores the exponentials alone would overflow.
TEST(CachedAttention, TakesLargeScores) {
  Context context = make_context(1);
  constexpr std::int64_t kSize = 8;
  const std::vector<std::int32_t> slots{0, 0}, positions{0, 1};
  const ops::CachedRows rows{1, 1, kSize, slots, positions};
  Values x(6 * kSize, 0.0F);
  for (std::size_t i = 0; i < kSize; ++i) {
    x[3 * kSize + i] = 100.0F;                          // the second row's query
    x[kSize + i] = 30.0F, x[4 * kSize + i] = 31.0F;     // keys
    x[2 * kSize + i] = -1.0F, x[5 * kSize + i] = 2.0F;  // values
  }
  Tensor projection = tensor_of(x, DType::f32, {2, 3 * kSize}), keys(DType::f32, {1, 1, 2, kSize}),
         values(DType::f32, {1, 1, 2, kSize}), out(DType::f32, {2, kSize});
  ops::cache_rows(context, rows, projection.view(), keys.view(), values.view());
  ops::cached_attention(context, rows, projection.view(), std::as_const(keys).view(),
                        std::as_const(values).view(), out.view());
  EXPECT_FLOAT_EQ(values_of(out)[0], -1.0F);
  EXPECT_FLOAT_EQ(values_of(out)[kSize], 2.0F);
}

TEST(CachedAttention, ARowDoesNotDependOnThoseBesideIt) {
  for (const CacheCase& c : kCacheCases) {
    Context context = make_context(2), other = make_context(3);
    CachedSequences together(c, DType::f32), alone(c, DType::f32);
    const Values both = together.run(context, {{1, 0, 19}, {0, 0, 30}});
    const Values first = alone.run(other, {{1, 0, 19}}), second = alone.run(other, {{0, 0, 30}});
    Values joined = first;
    joined.insert(joined.end(), second.begin(), second.end());
    EXPECT_EQ(both, joined);
  }
}

}  // namespace
}  // namespace podium::test
