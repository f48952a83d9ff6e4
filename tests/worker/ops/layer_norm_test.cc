#include "worker/ops/layer_norm.h"

#include <cmath>
#include <span>

#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

constexpr std::int64_t kRows = 5, kColumns = 37;
constexpr float kSmallEpsilon = 1e-12F;

struct Norm {
  explicit Norm(const std::vector<Values>& inputs, std::size_t first)
      : gamma(tensor_of(inputs[first], DType::f32, {kColumns})),
        beta(tensor_of(inputs[first + 1], DType::f32, {kColumns})) {}
  ops::LayerNormParameters parameters() const { return {gamma.view(), beta.view(), kSmallEpsilon}; }
  ops::LayerNormGradients gradients() { return {dgamma.view(), dbeta.view()}; }

  Tensor gamma, beta;
  Tensor dgamma{DType::f32, {kColumns}}, dbeta{DType::f32, {kColumns}}, statistics{DType::f32, {kRows, 2}};
};

// Inputs: x, gamma, beta.
OpRun layer_norm(Context& context, DType type, const std::vector<Values>& inputs, const Values& dy) {
  const Tensor x = tensor_of(inputs[0], type, {kRows, kColumns});
  Norm norm(inputs, 1);
  Tensor y(type, {kRows, kColumns});
  ops::layer_norm_forward(context, x.view(), norm.parameters(), y.view(), norm.statistics.view());
  if (dy.empty()) return {values_of(y), {}};
  Tensor gradient = tensor_of(dy, type, {kRows, kColumns});
  ops::layer_norm_backward(context, gradient.view(), x.view(), norm.statistics.view(), norm.parameters(),
                           gradient.view(), norm.gradients());
  return {values_of(y), {values_of(gradient), values_of(norm.dgamma), values_of(norm.dbeta)}};
}

// Inputs: branch, residual, gamma, beta.
OpRun add_layer_norm(double probability, Context& context, DType type, const std::vector<Values>& inputs,
                     const Values& dy) {
  const ops::Dropout dropout = ops::make_dropout(probability, philox_key(1, 2), 3, 4);
  Tensor sum = tensor_of(inputs[0], type, {kRows, kColumns});
  const Tensor residual = tensor_of(inputs[1], type, {kRows, kColumns});
  Norm norm(inputs, 2);
  Tensor y(type, {kRows, kColumns});
  ops::add_layer_norm_forward(context, sum.view(), residual.view(), dropout, norm.parameters(), y.view(),
                              norm.statistics.view());
  if (dy.empty()) return {values_of(y), {}};
  Tensor dsum = tensor_of(dy, type, {kRows, kColumns}), dbranch(type, {kRows, kColumns});
  ops::add_layer_norm_backward(context, dsum.view(), sum.view(), norm.statistics.view(), dropout,
                               norm.parameters(), dsum.view(), dbranch.view(), norm.gradients());
  return {values_of(y), {values_of(dbranch), values_of(dsum), values_of(norm.dgamma), values_of(norm.dbeta)}};
}

// As GPT uses it: both the norm and the sum go on. Inputs: branch, its bias, residual, gamma, beta; y is the
// norm followed by the sum.
OpRun add_layer_norm_and_go_on(double probability, Context& context, DType type,
                               const std::vector<Values>& inputs, const Values& dy) {
  const ops::Dropout dropout = ops::make_dropout(probability, philox_key(1, 2), 3, 4);
  Values branch = inputs[0];
  for (std::size_t i = 0; i < branch.size(); ++i) branch[i] += inputs[1][i % kColumns];
  Tensor sum = tensor_of(branch, type, {kRows, kColumns});
  const Tensor residual = tensor_of(inputs[2], type, {kRows, kColumns});
  Norm norm(inputs, 3);
  ops::LayerNormParameters parameters = norm.parameters();
  parameters.epsilon = 0.5F;
  Tensor y(type, {kRows, kColumns});
  ops::add_layer_norm_forward(context, sum.view(), residual.view(), dropout, parameters, y.view(),
                              norm.statistics.view());
  Values out = values_of(y);
  const Values sums = values_of(sum);
  out.insert(out.end(), sums.begin(), sums.end());
  if (dy.empty()) return {out, {}};

  const Tensor dnorm = tensor_of(Values(dy.begin(), dy.begin() + kRows * kColumns), type, {kRows, kColumns});
  Tensor dsum = tensor_of(Values(dy.begin() + kRows * kColumns, dy.end()), type, {kRows, kColumns});
  Tensor dbranch(type, {kRows, kColumns}), dbias(DType::f32, {kColumns});
  ops::LayerNormGradients gradients = norm.gradients();
  gradients.branch_bias = dbias.view();
  ops::add_layer_norm_backward(context, dnorm.view(), sum.view(), norm.statistics.view(), dropout, parameters,
                               dsum.view(), dbranch.view(), gradients, dsum.view());
  return {
      out,
      {values_of(dbranch), values_of(dbias), values_of(dsum), values_of(norm.dgamma), values_of(norm.dbeta)}};
}

Values matrix(std::uint64_t stream) { return random_values(kRows * kColumns, stream); }
Values row(std::uint64_t stream) { return random_values(kColumns, stream); }

TEST(LayerNorm, PassesTheOpChecks) { check_op(layer_norm, {matrix(1), row(2), row(3)}); }

TEST(AddLayerNorm, PassesTheOpChecksWithAndWithoutDropout) {
  for (const double probability : {0.0, 0.3}) {
    SCOPED_TRACE(probability);
    check_op(std::bind_front(add_layer_norm, probability), {matrix(1), matrix(2), row(3), row(4)});
  }
}

TEST(AddLayerNorm, AddsTheGradientOfASumThatGoesOn) {
  for (const double probability : {0.0, 0.3}) {
    SCOPED_TRACE(probability);
    check_op(std::bind_front(add_layer_norm_and_go_on, probability),
             {matrix(1), row(6), matrix(2), row(3), row(4)});
  }
}

// Inputs: x, gamma, beta; y is the norm followed by x itself.
OpRun layer_norm_and_go_on(Context& context, DType type, const std::vector<Values>& inputs,
                           const Values& dy) {
  const Tensor x = tensor_of(inputs[0], type, {kRows, kColumns});
  Norm norm(inputs, 1);
  Tensor y(type, {kRows, kColumns});
  ops::layer_norm_forward(context, x.view(), norm.parameters(), y.view(), norm.statistics.view());
  Values out = values_of(y);
  out.insert(out.end(), inputs[0].begin(), inputs[0].end());
  if (dy.empty()) return {out, {}};
  const Tensor dnorm = tensor_of(Values(dy.begin(), dy.begin() + kRows * kColumns), type, {kRows, kColumns});
  const Tensor dresidual =
      tensor_of(Values(dy.begin() + kRows * kColumns, dy.end()), type, {kRows, kColumns});
  Tensor dx(type, {kRows, kColumns});
  ops::layer_norm_backward(context, dnorm.view(), x.view(), norm.statistics.view(), norm.parameters(),
                           dx.view(), norm.gradients(), dresidual.view());
  return {out, {values_of(dx), values_of(norm.dgamma), values_of(norm.dbeta)}};
}

TEST(LayerNorm, AddsTheGradientOfAnInputThatGoesOn) {
  check_op(layer_norm_and_go_on, {matrix(1), row(2), row(3)});
}

// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta in double precision.
Values norm_by_formula(const Values& x, const Values& gamma, const Values& beta, double epsilon) {
  Values y;
  for (std::int64_t i = 0; i < kRows; ++i) {
    const std::span row = std::span(x).subspan(static_cast<std::size_t>(i * kColumns), kColumns);
    double mean = 0, variance = 0;
    for (const double v : row) mean += v / kColumns;
    for (const double v : row) variance += (v - mean) * (v - mean) / kColumns;
    for (std::size_t j = 0; j < kColumns; ++j)
      y.push_back(static_cast<float>((row[j] - mean) / std::sqrt(variance + epsilon) * gamma[j] + beta[j]));
  }
  return y;
}

// Epsilon is as large as it matters: added to the variance, not to the sum of squares nor to the deviation.
TEST(LayerNorm, AgreesWithTheFormulaAtALargeEpsilon) {
  constexpr float kEpsilon = 0.5F;
  const std::vector<Values> inputs{matrix(1), row(2), row(3), matrix(4)};
  const Norm norm(inputs, 1);
  ops::LayerNormParameters parameters = norm.parameters();
  parameters.epsilon = kEpsilon;
  Context context = make_context(2);
  const Tensor x = tensor_of(inputs[0], DType::f32, {kRows, kColumns});
  Tensor y(DType::f32, {kRows, kColumns}), statistics(DType::f32, {kRows, 2});
  ops::layer_norm_forward(context, x.view(), parameters, y.view(), statistics.view());
  expect_close(values_of(y), norm_by_formula(inputs[0], inputs[1], inputs[2], kEpsilon), 1e-6, "layer_norm");

  Tensor branch = tensor_of(inputs[3], DType::f32, {kRows, kColumns});
  ops::add_layer_norm_forward(context, branch.view(), x.view(), {}, parameters, y.view(), statistics.view());
  Values sum = inputs[0];
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += inputs[3][i];
  expect_close(values_of(y), norm_by_formula(sum, inputs[1], inputs[2], kEpsilon), 1e-6, "add_layer_norm");
}

TEST(LayerNorm, RowsHaveMeanZeroAndDeviationOne) {
  Context context = make_context(2);
  const Values y =
      layer_norm(context, DType::f32, {matrix(1), Values(kColumns, 1.0F), Values(kColumns, 0.0F)}, {}).y;
  for (std::int64_t i = 0; i < kRows; ++i) {
    double sum = 0, squares = 0;
    for (std::int64_t j = 0; j < kColumns; ++j) {
      const double v = y[static_cast<std::size_t>(i * kColumns + j)];
      sum += v;
      squares += v * v;
    }
    EXPECT_NEAR(sum / kColumns, 0, 1e-5);
    EXPECT_NEAR(squares / kColumns, 1, 1e-4);
  }
}

}  // namespace
}  // namespace podium::test
