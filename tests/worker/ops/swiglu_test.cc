#include "worker/ops/swiglu.h"

#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

// Input: x.
OpRun swiglu(std::int64_t rows, Context& context, DType type, const std::vector<Values>& inputs,
             const Values& dy) {
  const std::int64_t columns = static_cast<std::int64_t>(inputs[0].size()) / rows / 2;
  const Tensor x = tensor_of(inputs[0], type, {rows, 2 * columns});
  Tensor y(type, {rows, columns});
  ops::swiglu_forward(context, x.view(), y.view());
  if (dy.empty()) return {values_of(y), {}};
  const Tensor gradient = tensor_of(dy, type, {rows, columns});
  Tensor dx(type, {rows, 2 * columns});
  ops::swiglu_backward(context, x.view(), gradient.view(), dx.view());
  return {values_of(y), {values_of(dx)}};
}

// Rows with and without whole vectors of eight columns.
TEST(Swiglu, PassesTheOpChecks) {
  for (const std::int64_t columns : {13, 16}) {
    SCOPED_TRACE(columns);
    check_op(std::bind_front(swiglu, 3), {random_values(3 * 2 * columns, 5, 2.0)});
  }
}

TEST(Swiglu, TheGateIsTheFirstHalfAndAgreesWithTheFormulaInDouble) {
  Context context = make_context(2);
  Values x, expected;
  for (float gate = -100.0F; gate <= 100.0F; gate += 0.125F) x.push_back(gate);
  const std::size_t count = x.size();
  for (std::size_t i = 0; i < count; ++i) {
    const float linear = 0.5F + static_cast<float>(i % 7);
    x.push_back(linear);
    expected.push_back(static_cast<float>(x[i] / (1.0 + std::exp(-static_cast<double>(x[i]))) * linear));
  }
  const Values y = swiglu(1, context, DType::f32, {x}, {}).y;
  for (std::size_t i = 0; i < count; ++i) EXPECT_NEAR(y[i], expected[i], 1e-6 * (1 + std::abs(expected[i])));
}

TEST(Swiglu, BackwardMayReplaceItsInput) {
  Context context = make_context(2);
  const Values in = random_values(4 * 2 * 24, 1);
  const Tensor dy = tensor_of(random_values(4 * 24, 2), DType::f32, {4, 24});
  Tensor x = tensor_of(in, DType::f32, {4, 48}), dx(DType::f32, {4, 48});
  ops::swiglu_backward(context, x.view(), dy.view(), dx.view());
  ops::swiglu_backward(context, x.view(), dy.view(), x.view());
  EXPECT_EQ(values_of(x), values_of(dx));
}

}  // namespace
}  // namespace podium::test
