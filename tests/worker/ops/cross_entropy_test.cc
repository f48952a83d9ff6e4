#include "worker/ops/cross_entropy.h"

#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

constexpr std::int64_t kRows = 7;
const std::vector<std::int32_t> kLabels = {0, 3, -1, 2, 8, -1, 5};

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
  Context context{.threads = 2};
  const Values values = random_values(kRows * classes, 1, 3.0);
  const Expected expected = formula(values, classes, kLabels, 0.25);
  Tensor logits = tensor_of(values, type, {kRows, classes}), dbias(DType::f32, {classes});
  const auto evaluated = ops::cross_entropy(context, logits.view(), kLabels);
  const auto sums = ops::cross_entropy_backward(context, logits.view(), kLabels, 0.25F, dbias.view());
  for (const auto& s : {evaluated, sums}) {
    EXPECT_NEAR(s.loss, expected.loss, 1e-5 * expected.loss);
    EXPECT_EQ(s.rows, 5);
    EXPECT_EQ(s.correct, expected.correct);
  }
  expect_close(values_of(logits), expected.gradient, tolerance, "gradient");
  Values columns(static_cast<std::size_t>(classes), 0.0F);
  for (std::size_t i = 0; i < expected.gradient.size(); ++i) {
    columns[i % static_cast<std::size_t>(classes)] += expected.gradient[i];
  }
  expect_close(values_of(dbias), columns, 1e-5, "bias gradient");
}

TEST(CrossEntropy, AgreesWithTheFormula) {
  check(DType::f32, 9, 1e-5);
  check(DType::bf16, 9, 1e-2);
  check(DType::f32, 9001, 1e-5);
}

TEST(CrossEntropy, CountsARowAsCorrectWhenItsLabelIsHighest) {
  Context context{.threads = 1};
  const Tensor logits = tensor_of({1, 5, 2, 4, 0, 3}, DType::f32, {2, 3});
  const std::vector<std::int32_t> right = {1, 0}, wrong = {0, 2};
  EXPECT_EQ(ops::cross_entropy(context, logits.view(), right).correct, 2);
  EXPECT_EQ(ops::cross_entropy(context, logits.view(), wrong).correct, 0);
}

TEST(CrossEntropy, LargeLogitsDoNotOverflow) {
  Context context{.threads = 1};
  const Tensor logits = tensor_of({30000, 0, -30000}, DType::f32, {1, 3});
  const std::vector<std::int32_t> label = {1};
  EXPECT_NEAR(ops::cross_entropy(context, logits.view(), label).loss, 30000, 1e-2);
}

}  // namespace
}  // namespace podium::test
