#include "worker/ops/distillation.h"

#include <memory>

#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

constexpr std::int64_t kColumns = 3, kColumn = 1, kLength = 5, kRows = 17;  // the last two are filler
constexpr float kTemperature = 2.5F, kScale = 0.25F;
const std::vector<std::int32_t> kValid = {5, 2, 3}, kBegins = {0, 5, 7, 10};

struct Sequence {
  std::int64_t begin, end;  // valid rows
};

struct Found {
  double loss = 0;
  Values dx;
};

std::vector<double> softmax(const Values& scores, const Sequence& rows, std::int64_t stride,
                            std::int64_t column) {
  std::vector<double> shares;
  double sum = 0;
  for (std::int64_t row = rows.begin; row < rows.end; ++row)
    sum += shares.emplace_back(std::exp(scores[static_cast<std::size_t>(row * stride + column)] /
                                        static_cast<double>(kTemperature)));
  for (double& share : shares) share /= sum;
  return shares;
}

// The formula, in double; dx had `before`.
Found formula(const Values& x, const Values& teacher, const Values& before,
              const std::vector<Sequence>& sequences) {
  Found expected{.dx = before};
  const double t = kTemperature;
  for (const Sequence& rows : sequences) {
    const std::vector<double> p = softmax(teacher, rows, 1, 0), q = softmax(x, rows, kColumns, kColumn);
    for (std::size_t i = 0; i < p.size(); ++i) {
      expected.loss += t * t * p[i] * std::log(p[i] / q[i]);
      const auto at = (static_cast<std::size_t>(rows.begin) + i) * kColumns + kColumn;
      expected.dx[at] = static_cast<float>(expected.dx[at] + kScale * t * (q[i] - p[i]));
    }
  }
  return expected;
}

// x [rows, columns], of which all but the column and all of `teacher` beyond the valid rows is of no matter.
Found run(const Values& x, const Values& teacher, const Values& before, DType type,
          const ops::SequenceRows& rows) {
  Context context = make_context(2);
  const Tensor student = tensor_of(x, type, {kRows, kColumns});
  Tensor dx = tensor_of(before, type, {kRows, kColumns});
  const auto sums = std::make_unique<ops::CrossEntropySums>();
  ops::distillation(context, student.view(), kColumn, rows, teacher, kTemperature, kScale, dx.view(),
                    sums.get());
  EXPECT_EQ(values_of(student), x);
  EXPECT_EQ(sums->rows, rows.sequences);
  EXPECT_EQ(sums->correct, 0);
  return {sums->loss, values_of(dx)};
}

void check(const ops::SequenceRows& rows, const std::vector<Sequence>& sequences) {
  const Values x = random_values(kRows * kColumns, 1, 3.0), before = random_values(kRows * kColumns, 2, 0.1);
  const Values teacher = random_values(kRows, 3, 3.0);
  const Found expected = formula(x, teacher, before, sequences);
  for (const auto& [type, tolerance] :
       {std::pair(DType::f32, 1e-6), {DType::bf16, 1e-2}, {DType::f16, 2e-3}}) {
    const Found found = run(x, teacher, before, type, rows);
    EXPECT_NEAR(found.loss, expected.loss, 1e-5 * expected.loss);
    expect_close(found.dx, expected.dx, tolerance, "gradient");
    for (std::size_t i = 0; i < before.size(); ++i)
      if (expected.dx[i] == before[i]) {
        EXPECT_EQ(found.dx[i], value_at(tensor_of({before[i]}, type, {1}), 0)) << i;
      }
  }
}

TEST(Distillation, AgreesWithTheFormulaWithPadding) {
  check({3, kLength, kValid, {}}, {{0, 5}, {5, 7}, {10, 13}});
}

TEST(Distillation, AgreesWithTheFormulaWherePaddingIsLeftOut) {
  check({3, kLength, {}, kBegins}, {{0, 5}, {5, 7}, {7, 10}});
}

TEST(Distillation, AgreesWithTheFormulaWhereAllAreFull) {
  check({3, kLength, {}, {}}, {{0, 5}, {5, 10}, {10, 15}});
}

TEST(Distillation, ItsGradientIsTheSlopeOfItsLoss) {
  Values x = random_values(kRows * kColumns, 1, 2.0);
  const Values teacher = random_values(kRows, 3, 2.0), zeros(x.size(), 0.0F);
  const ops::SequenceRows rows{3, kLength, kValid, {}};
  const auto loss = [&] { return run(x, teacher, zeros, DType::f32, rows).loss; };
  Values slopes;
  for (float& value : x) {
    constexpr float kStep = 1.0F / 64;
    const float kept = value;
    value = kept + kStep;
    const double above = loss();
    value = kept - kStep;
    slopes.push_back(static_cast<float>(kScale * (above - loss()) / (2 * kStep)));
    value = kept;
  }
  expect_close(run(x, teacher, zeros, DType::f32, rows).dx, slopes, 1e-3, "gradient");
}

TEST(Distillation, AStudentWithItsTeachersScoresHasNothingToLearn) {
  const Values x = random_values(kRows * kColumns, 1, 2.0), zeros(x.size(), 0.0F);
  Values teacher;
  for (std::size_t row = 0; row < kRows; ++row)
    teacher.push_back(x[row * kColumns + kColumn] + 7);  // a softmax does not see what all scores share
  const Found found = run(x, teacher, zeros, DType::f32, {3, kLength, {}, kBegins});
  EXPECT_NEAR(found.loss, 0, 1e-5);
  for (const float gradient : found.dx) EXPECT_NEAR(gradient, 0, 1e-6);
}

// More rows than a block has threads, scores that no exponential holds, and shares that vanish.
TEST(Distillation, LongSequencesOfLargeScoresAgree) {
  constexpr std::int64_t kLong = 3000;
  Context context = make_context(2);
  const Values x(kLong, 150.0F);
  Values teacher(kLong, -400.0F);
  teacher.back() = 400.0F;
  const Tensor student = tensor_of(x, DType::f32, {kLong, 1});
  Tensor dx = tensor_of(Values(kLong, 0.0F), DType::f32, {kLong, 1});
  const auto sums = std::make_unique<ops::CrossEntropySums>();
  ops::distillation(context, student.view(), 0, {1, kLong, {}, {}}, teacher, 1.0F, 1.0F, dx.view(),
                    sums.get());
  EXPECT_NEAR(sums->loss, std::log(3000.0), 1e-4);
  EXPECT_NEAR(value_at(dx, 0), 1.0 / 3000, 1e-7);
  EXPECT_NEAR(value_at(dx, kLong - 1), 1.0 / 3000 - 1, 1e-6);
}

}  // namespace
}  // namespace podium::test
