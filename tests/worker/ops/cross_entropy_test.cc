#include "worker/ops/cross_entropy.h"

#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

constexpr std::int64_t kRows = 7;
const std::vector<std::int32_t> kLabels = {0, 3, -1, 2, 8, -1, 5};

// On the heap, as all that a device may have to reach.
std::unique_ptr<ops::CrossEntropySums> make_sums() { return std::make_unique<ops::CrossEntropySums>(); }

struct Expected {
  double loss = 0;
  std::int64_t correct = 0;
  Values gradient;
};

// The formula, in double.
Expected formula(const Values& logits, std::int64_t classes, std::span<const std::int32_t> labels,
                 double scale) {
  Expected expected;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::span<const float> x(logits.data() + static_cast<std::int64_t>(i) * classes,
                                   static_cast<std::size_t>(classes));
    double sum = 0;
    for (const float v : x) sum += std::exp(static_cast<double>(v));
    const auto label = static_cast<std::size_t>(labels[i]);
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double g = scale * (std::exp(static_cast<double>(x[j])) / sum - (j == label ? 1.0 : 0.0));
      expected.gradient.push_back(labels[i] < 0 ? 0.0F : static_cast<float>(g));
    }
    if (labels[i] < 0) continue;
    expected.loss += std::log(sum) - x[label];
    expected.correct += *std::max_element(x.begin(), x.end()) == x[label];
  }
  return expected;
}

void check(DType type, std::int64_t classes, double tolerance) {
  Context context = make_context(2);
  const Values values = random_values(kRows * classes, 1, 3.0);
  const Expected expected = formula(values, classes, kLabels, 0.25);
  Tensor logits = tensor_of(values, type, {kRows, classes}), dbias(DType::f32, {classes});
  const auto evaluated = make_sums(), sums = make_sums();
  ops::cross_entropy(context, logits.view(), kLabels, evaluated.get());
  ops::cross_entropy_backward(context, logits.view(), kLabels, 0.25F, dbias.view(), sums.get());
  for (const auto& s : {*evaluated, *sums}) {
    EXPECT_NEAR(s.loss, expected.loss, 1e-5 * expected.loss);
    EXPECT_EQ(s.rows, 5);
    EXPECT_EQ(s.correct, expected.correct);
  }
  expect_close(values_of(logits), expected.gradient, tolerance, "gradient");
  Values columns(static_cast<std::size_t>(classes), 0.0F);
  for (std::size_t i = 0; i < expected.gradient.size(); ++i) {
    columns[i % static_cast<std::size_t>(classes)] += expected.gradient[i];
  }
  expect_close(values_of(dbias), columns, tolerance, "bias gradient");
}

TEST(CrossEntropy, AgreesWithTheFormula) {
  check(DType::f32, 9, 1e-5);
  check(DType::bf16, 9, 1e-2);
  check(DType::f16, 9, 2e-3);
  check(DType::f32, 9001, 1e-5);
}

TEST(CrossEntropy, AClassWeighsInLossAndGradient) {
  constexpr std::int64_t kClasses = 9;
  Context context = make_context(2);
  const Values values = random_values(kRows * kClasses, 5, 3.0), weights = {2, 0, 0.5, 1, 1, 3, 1, 1, 0.25};
  const Tensor placed = tensor_of(weights, DType::f32, {kClasses});
  double loss = 0;
  Values gradient, columns(kClasses, 0.0F);
  for (std::size_t i = 0; i < kRows; ++i) {  // the formula, row by row
    const Values row(values.begin() + static_cast<std::ptrdiff_t>(i * kClasses),
                     values.begin() + static_cast<std::ptrdiff_t>((i + 1) * kClasses));
    const double weight = kLabels[i] < 0 ? 0 : weights[static_cast<std::size_t>(kLabels[i])];
    const Expected one = formula(row, kClasses, std::span(&kLabels[i], 1), 0.25 * weight);
    loss += weight * one.loss;
    gradient.insert(gradient.end(), one.gradient.begin(), one.gradient.end());
    for (std::size_t j = 0; j < columns.size(); ++j) columns[j] += one.gradient[j];
  }
  Tensor logits = tensor_of(values, DType::f32, {kRows, kClasses}), dbias(DType::f32, {kClasses});
  const auto evaluated = make_sums(), sums = make_sums();
  ops::cross_entropy(context, logits.view(), kLabels, evaluated.get(), kClasses, placed.view());
  ops::cross_entropy_backward(context, logits.view(), kLabels, 0.25F, dbias.view(), sums.get(), kClasses,
                              placed.view());
  for (const auto& s : {*evaluated, *sums}) {
    EXPECT_NEAR(s.loss, loss, 1e-5 * loss);
    EXPECT_EQ(s.rows, 5) << "a weight changes no count";
  }
  expect_close(values_of(logits), gradient, 1e-5, "gradient");
  expect_close(values_of(dbias), columns, 1e-5, "bias gradient");
}

// Columns [begin, end) of a row-major matrix.
Values columns_of(const Values& values, std::int64_t columns, std::int64_t begin, std::int64_t end) {
  Values part;
  for (auto row = values.begin(); row != values.end(); row += columns) {
    part.insert(part.end(), row + begin, row + end);
  }
  return part;
}

void check_split(DType type, double tolerance) {
  constexpr std::int64_t kClasses = 9, kCut = 4;
  Context context = make_context(2);
  const Values values = random_values(kRows * kClasses, 1, 3.0);
  const Expected expected = formula(values, kClasses, kLabels, 0.25);
  struct Rank {
    std::int64_t begin, end;
    Tensor logits, maxima{DType::f32, {kRows}}, sums{DType::f32, {kRows, 2}},
        dbias{DType::f32, {end - begin}};
  };
  std::vector<Rank> ranks;
  for (const auto& [begin, end] : {std::pair{std::int64_t{0}, kCut}, std::pair{kCut, kClasses}}) {
    ranks.push_back(
        {.begin = begin,
         .end = end,
         .logits = tensor_of(columns_of(values, kClasses, begin, end), type, {kRows, end - begin})});
  }
  Values maxima(kRows, -1e30F), sums(2 * kRows, 0.0F);
  for (Rank& r : ranks) {
    ops::class_maxima(context, r.logits.view(), r.maxima.view());
    for (std::size_t i = 0; i < kRows; ++i) maxima[i] = std::max(maxima[i], value_at(r.maxima, i));
  }
  const Tensor all_maxima = tensor_of(maxima, DType::f32, {kRows});
  for (Rank& r : ranks) {
    ops::class_sums(context, r.logits.view(), kLabels, r.begin, all_maxima.view(), r.sums.view());
    for (std::size_t i = 0; i < 2 * kRows; ++i) sums[i] += value_at(r.sums, i);
  }
  const Tensor all_sums = tensor_of(sums, DType::f32, {kRows, 2});
  const auto totals = make_sums();
  ops::class_totals(context, kLabels, all_maxima.view(), all_sums.view(), totals.get());
  EXPECT_NEAR(totals->loss, expected.loss, 1e-5 * expected.loss);
  EXPECT_EQ(totals->rows, 5);
  EXPECT_EQ(totals->correct, expected.correct);
  for (Rank& r : ranks) {
    ops::class_gradients(context, r.logits.view(), kLabels, r.begin, all_maxima.view(), all_sums.view(),
                         0.25F, r.dbias.view());
    const Values gradient = columns_of(expected.gradient, kClasses, r.begin, r.end);
    expect_close(values_of(r.logits), gradient, tolerance, "gradient");
    Values columns(static_cast<std::size_t>(r.end - r.begin), 0.0F);
    for (std::size_t i = 0; i < gradient.size(); ++i) columns[i % columns.size()] += gradient[i];
    expect_close(values_of(r.dbias), columns, tolerance, "bias gradient");
  }
}

TEST(CrossEntropy, OfSplitClassesAgreesWithTheFormula) {
  check_split(DType::f32, 1e-5);
  check_split(DType::bf16, 1e-2);
  check_split(DType::f16, 2e-3);
}

TEST(CrossEntropy, CountsARowAsCorrectWhenItsLabelIsHighest) {
  Context context = make_context(1);
  const Tensor logits = tensor_of({1, 5, 2, 4, 0, 3}, DType::f32, {2, 3});
  const std::vector<std::int32_t> right = {1, 0}, wrong = {0, 2};
  const auto sums = make_sums();
  ops::cross_entropy(context, logits.view(), right, sums.get());
  EXPECT_EQ(sums->correct, 2);
  ops::cross_entropy(context, logits.view(), wrong, sums.get());
  EXPECT_EQ(sums->correct, 2) << "what the second call adds";
  EXPECT_EQ(sums->rows, 4);
}

TEST(CrossEntropy, LargeLogitsDoNotOverflow) {
  Context context = make_context(1);
  const Tensor logits = tensor_of({30000, 0, -30000}, DType::f32, {1, 3});
  const std::vector<std::int32_t> label = {1};
  const auto sums = make_sums();
  ops::cross_entropy(context, logits.view(), label, sums.get());
  EXPECT_NEAR(sums->loss, 30000, 1e-2);
}

}  // namespace
}  // namespace podium::test
