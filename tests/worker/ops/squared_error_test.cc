#include "worker/ops/squared_error.h"

#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

void check(DType type, std::int64_t rows, double tolerance) {
  constexpr float kScale = 0.25F;
  Context context = make_context(2);
  const Tensor x = tensor_of(random_values(rows, 1, 2.0), type, {rows, 1});
  const Values predictions = values_of(x), values = random_values(rows, 2, 2.0);
  Values gradient;
  double loss = 0, all = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = static_cast<double>(predictions[i]) - values[i];
    loss += error * error;
    gradient.push_back(static_cast<float>(2 * kScale * error));
    all += gradient.back();
  }
  Tensor replaced = tensor_of(predictions, type, {rows, 1}), dbias = tensor_of({0.5F}, DType::f32, {1});
  const auto evaluated = std::make_unique<ops::CrossEntropySums>(),
             sums = std::make_unique<ops::CrossEntropySums>();
  *sums = {1.5, 2, 1};
  ops::squared_error(context, x.view(), values, evaluated.get());
  ops::squared_error_backward(context, replaced.view(), values, kScale, dbias.view(), sums.get());
  EXPECT_NEAR(evaluated->loss, loss, 1e-5 * loss);
  EXPECT_EQ(evaluated->rows, rows);
  EXPECT_EQ(evaluated->correct, 0);
  EXPECT_NEAR(sums->loss, 1.5 + loss, 1e-5 * loss) << "it adds";
  EXPECT_EQ(sums->rows, 2 + rows);
  EXPECT_EQ(sums->correct, 1);
  expect_close(values_of(replaced), gradient, tolerance, "gradient");
  EXPECT_NEAR(values_of(dbias)[0], 0.5 + all,
              tolerance * std::sqrt(dot(gradient, gradient) * static_cast<double>(rows)));
  EXPECT_EQ(values_of(x), predictions) << "only backward replaces them";
}

TEST(SquaredError, AgreesWithTheFormula) {
  for (const std::int64_t rows : {1, 7, 300}) {
    check(DType::f32, rows, 1e-5);
    check(DType::bf16, rows, 1e-2);
    check(DType::f16, rows, 2e-3);
  }
}

// 4097^2 has 25 bits, one more than a float holds.
TEST(SquaredError, IsSquaredInDouble) {
  Context context = make_context(1);
  const Tensor x = tensor_of({4097}, DType::f32, {1, 1});
  const Values value = {0};
  const auto sums = std::make_unique<ops::CrossEntropySums>();
  ops::squared_error(context, x.view(), value, sums.get());
  EXPECT_EQ(sums->loss, 16785409);
}

TEST(SquaredError, NeedsNoBias) {
  Context context = make_context(1);
  Tensor x = tensor_of({3}, DType::f32, {1, 1});
  const Values value = {1};
  const auto sums = std::make_unique<ops::CrossEntropySums>();
  ops::squared_error_backward(context, x.view(), value, 1.0F, {}, sums.get());
  EXPECT_EQ(values_of(x), Values{4});
  EXPECT_EQ(sums->loss, 4);
}

}  // namespace
}  // namespace podium::test
