#include "worker/ops/position_cross_entropy.h"

#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

constexpr std::int64_t kColumns = 3, kColumn = 1, kLength = 5, kRows = 17;  // the last two are filler
constexpr double kScale = 0.25;
const std::vector<std::int32_t> kValid = {5, 2, 3}, kBegins = {0, 5, 7, 10}, kLabels = {4, 1, -1};

struct Sequence {
  std::int64_t begin, end;  // valid rows
};

struct Expected {
  double loss = 0;
  std::int64_t correct = 0;
  Values logits;  // the column replaced by its gradient
};

// The formula, in double.
Expected formula(const Values& logits, const std::vector<Sequence>& sequences) {
  Expected expected{.logits = logits};
  for (std::size_t row = 0; row < kRows; ++row) expected.logits[row * kColumns + kColumn] = 0;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    if (kLabels[s] < 0) continue;
    const auto at = [&](std::int64_t row) { return static_cast<std::size_t>(row * kColumns + kColumn); };
    const std::size_t label = at(sequences[s].begin + kLabels[s]);
    double sum = 0;
    float highest = logits[label];
    for (std::int64_t row = sequences[s].begin; row < sequences[s].end; ++row) {
      sum += std::exp(static_cast<double>(logits[at(row)]));
      highest = std::max(highest, logits[at(row)]);
    }
    for (std::int64_t row = sequences[s].begin; row < sequences[s].end; ++row)
      expected.logits[at(row)] = static_cast<float>(
          kScale * (std::exp(static_cast<double>(logits[at(row)])) / sum - (at(row) == label ? 1 : 0)));
    expected.loss += std::log(sum) - logits[label];
    expected.correct += logits[label] == highest;
  }
  return expected;
}

void check(DType type, const ops::SequenceRows& rows, const std::vector<Sequence>& sequences,
           double tolerance) {
  Context context = make_context(2);
  const Values values = random_values(kRows * kColumns, 1, 2.0);
  const Expected expected = formula(values, sequences);
  Tensor logits = tensor_of(values, type, {kRows, kColumns});
  const auto evaluated = std::make_unique<ops::CrossEntropySums>(),
             sums = std::make_unique<ops::CrossEntropySums>();
  ops::position_cross_entropy(context, logits.view(), kColumn, rows, kLabels, evaluated.get());
  EXPECT_EQ(values_of(logits), values);
  ops::position_cross_entropy_backward(context, logits.view(), kColumn, rows, kLabels,
                                       static_cast<float>(kScale), sums.get());
  for (const auto& s : {*evaluated, *sums}) {
    EXPECT_NEAR(s.loss, expected.loss, 1e-5 * expected.loss);
    EXPECT_EQ(s.rows, 2);
    EXPECT_EQ(s.correct, expected.correct);
  }
  expect_close(values_of(logits), expected.logits, tolerance, "logits and gradient");
  for (std::size_t row = 0; row < kRows; ++row)
    if (expected.logits[row * kColumns + kColumn] == 0) {
      EXPECT_EQ(value_at(logits, row * kColumns + kColumn), 0) << row;
    }
}

void check(const ops::SequenceRows& rows, const std::vector<Sequence>& sequences) {
  check(DType::f32, rows, sequences, 1e-6);
  check(DType::bf16, rows, sequences, 1e-2);
  check(DType::f16, rows, sequences, 2e-3);
}

TEST(PositionCrossEntropy, AgreesWithTheFormulaWithPadding) {
  check({3, kLength, kValid, {}}, {{0, 5}, {5, 7}, {10, 13}});
}

TEST(PositionCrossEntropy, AgreesWithTheFormulaWherePaddingIsLeftOut) {
  check({3, kLength, {}, kBegins}, {{0, 5}, {5, 7}, {7, 10}});
}

TEST(PositionCrossEntropy, AgreesWithTheFormulaWhereAllAreFull) {
  check({3, kLength, {}, {}}, {{0, 5}, {5, 10}, {10, 15}});
}

TEST(PositionCrossEntropy, LongSequencesKeepTheirSum) {
  constexpr std::int64_t kLong = 3000;
  Context context = make_context(2);
  const Tensor logits = tensor_of(Values(kLong, 1.0F), DType::f32, {kLong, 1});
  const auto sums = std::make_unique<ops::CrossEntropySums>();
  const std::vector<std::int32_t> label = {2999};
  ops::position_cross_entropy(context, logits.view(), 0, {1, kLong, {}, {}}, label, sums.get());
  EXPECT_NEAR(sums->loss, std::log(3000.0), 1e-5);
  EXPECT_EQ(sums->correct, 1);
}

}  // namespace
}  // namespace podium::test
