#include "worker/ops/gelu.h"

#include <numbers>

#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

// Input: x.
OpRun gelu(ops::GeluKind kind, Context& context, DType type, const std::vector<Values>& inputs,
           const Values& dy) {
  const auto count = static_cast<std::int64_t>(inputs[0].size());
  Tensor x = tensor_of(inputs[0], type, {1, count}), y(type, {1, count});
  ops::gelu_forward(context, x.view(), y.view(), kind);
  if (dy.empty()) return {values_of(y), {}};
  Tensor gradient = tensor_of(dy, type, {1, count});
  ops::gelu_backward(context, {x.view(), kind}, gradient.view());
  return {values_of(y), {values_of(gradient)}};
}

TEST(Gelu, PassesTheOpChecks) {
  for (const ops::GeluKind kind : {ops::GeluKind::erf, ops::GeluKind::tanh}) {
    check_op(std::bind_front(gelu, kind), {random_values(97, 5, 2.0)});
  }
}

TEST(Gelu, AgreesWithTheFormulasInDouble) {
  Context context = make_context(2);
  Values x;
  for (float v = -9.0F; v <= 9.0F; v += 0.01F) x.push_back(v);
  const Values erf = gelu(ops::GeluKind::erf, context, DType::f32, {x}, {}).y;
  const Values tanh = gelu(ops::GeluKind::tanh, context, DType::f32, {x}, {}).y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = x[i], u = std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v);
    EXPECT_NEAR(erf[i], 0.5 * v * (1.0 + std::erf(v / std::sqrt(2.0))), 1e-6) << v;
    EXPECT_NEAR(tanh[i], 0.5 * v * (1.0 + std::tanh(u)), 1e-6) << v;
  }
}

}  // namespace
}  // namespace podium::test
