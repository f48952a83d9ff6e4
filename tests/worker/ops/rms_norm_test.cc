#include "worker/ops/rms_norm.h"

#include <cmath>

#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

constexpr std::int64_t kRows = 5, kColumns = 37;
constexpr float kEpsilon = 1e-5F;

struct RmsNorm {
  explicit RmsNorm(const Values& values, float with_epsilon = kEpsilon)
      : gamma(tensor_of(values, DType::f32, {kColumns})), epsilon(with_epsilon) {}
  ops::RmsNormParameters parameters() const { return {gamma.view(), epsilon}; }

  Tensor gamma, dgamma{DType::f32, {kColumns}}, statistics{DType::f32, {kRows}};
  float epsilon;
};

Values joined(Values a, const Values& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Inputs: x, gamma; y is the norm followed by x itself where x goes on.
OpRun rms_norm(bool goes_on, Context& context, DType type, const std::vector<Values>& inputs,
               const Values& dy) {
  constexpr std::int64_t kSize = kRows * kColumns;
  const Tensor x = tensor_of(inputs[0], type, {kRows, kColumns});
  RmsNorm norm(inputs[1]);
  Tensor y(type, {kRows, kColumns});
  ops::rms_norm_forward(context, x.view(), norm.parameters(), y.view(), norm.statistics.view());
  const Values out = goes_on ? joined(values_of(y), inputs[0]) : values_of(y);
  if (dy.empty()) return {out, {}};
  Tensor dx = tensor_of(Values(dy.begin(), dy.begin() + kSize), type, {kRows, kColumns});
  const Tensor dresidual =
      goes_on ? tensor_of(Values(dy.begin() + kSize, dy.end()), type, {kRows, kColumns}) : Tensor();
  ops::rms_norm_backward(context, dx.view(), x.view(), norm.statistics.view(), norm.parameters(), dx.view(),
                         norm.dgamma.view(), goes_on ? dresidual.view() : ConstTensorView());
  return {out, {values_of(dx), values_of(norm.dgamma)}};
}

// Inputs: branch, residual, gamma; y is the norm followed by the sum, both of which go on.
OpRun add_rms_norm(double probability, Context& context, DType type, const std::vector<Values>& inputs,
                   const Values& dy) {
  constexpr std::int64_t kSize = kRows * kColumns;
  const ops::Dropout dropout = ops::make_dropout(probability, philox_key(1, 2), 3, 4);
  Tensor sum = tensor_of(inputs[0], type, {kRows, kColumns});
  const Tensor residual = tensor_of(inputs[1], type, {kRows, kColumns});
  RmsNorm norm(inputs[2]);
  Tensor y(type, {kRows, kColumns});
  ops::add_rms_norm_forward(context, sum.view(), residual.view(), dropout, norm.parameters(), y.view(),
                            norm.statistics.view());
  const Values out = joined(values_of(y), values_of(sum));
  if (dy.empty()) return {out, {}};
  const Tensor dnorm = tensor_of(Values(dy.begin(), dy.begin() + kSize), type, {kRows, kColumns});
  Tensor dsum = tensor_of(Values(dy.begin() + kSize, dy.end()), type, {kRows, kColumns});
  Tensor dbranch(type, {kRows, kColumns});
  ops::add_rms_norm_backward(context, dnorm.view(), sum.view(), norm.statistics.view(), dropout,
                             norm.parameters(), dsum.view(), dbranch.view(), norm.dgamma.view(), dsum.view());
  return {out, {values_of(dbranch), values_of(dsum), values_of(norm.dgamma)}};
}

Values matrix(std::uint64_t stream) { return random_values(kRows * kColumns, stream); }

TEST(RmsNorm, PassesTheOpChecks) {
  for (const bool goes_on : {false, true}) {
    SCOPED_TRACE(goes_on);
    check_op(std::bind_front(rms_norm, goes_on), {matrix(1), random_values(kColumns, 2)});
  }
}

TEST(AddRmsNorm, PassesTheOpChecksWithAndWithoutDropout) {
  for (const double probability : {0.0, 0.3}) {
    SCOPED_TRACE(probability);
    check_op(std::bind_front(add_rms_norm, probability), {matrix(1), matrix(2), random_values(kColumns, 3)});
  }
}

// The widest rows that one vector and two vectors of a device's thread hold, and their first columns beyond.
TEST(RmsNorm, TakesRowsOfAnyLength) {
  Context context = make_context(2);
  for (const std::int64_t columns : {1, 8, 256, 257, 1000, 4096, 8192}) {
    SCOPED_TRACE(columns);
    const Values in = random_values(2 * columns, 1), scale = random_values(columns, 2);
    const Tensor x = tensor_of(in, DType::f32, {2, columns}), gamma = tensor_of(scale, DType::f32, {columns});
    Tensor y(DType::f32, {2, columns}), statistics(DType::f32, {2});
    ops::rms_norm_forward(context, x.view(), {gamma.view(), kEpsilon}, y.view(), statistics.view());
    Values expected;
    for (std::size_t row = 0; row < 2; ++row) {
      double squares = 0;
      const std::size_t begin = row * static_cast<std::size_t>(columns);
      for (std::size_t j = 0; j < scale.size(); ++j) squares += std::pow(in[begin + j], 2);
      const double rms = std::sqrt(squares / static_cast<double>(columns) + kEpsilon);
      for (std::size_t j = 0; j < scale.size(); ++j)
        expected.push_back(static_cast<float>(in[begin + j] / rms * scale[j]));
    }
    expect_close(values_of(y), expected, 1e-6, "y");
  }
}

// Epsilon is as large as it matters: added to the mean of the squares, not to their sum nor to the root.
TEST(RmsNorm, AgreesWithTheFormulaAtALargeEpsilon) {
  constexpr float kLarge = 0.5F;
  Context context = make_context(2);
  const Values in = matrix(1), scale = random_values(kColumns, 2);
  RmsNorm norm(scale, kLarge);
  const Tensor x = tensor_of(in, DType::f32, {kRows, kColumns});
  Tensor y(DType::f32, {kRows, kColumns});
  ops::rms_norm_forward(context, x.view(), norm.parameters(), y.view(), norm.statistics.view());
  Values expected;
  for (std::size_t i = 0; i < in.size(); i += kColumns) {
    double squares = 0;
    for (std::size_t j = 0; j < kColumns; ++j) squares += std::pow(in[i + j], 2) / kColumns;
    for (std::size_t j = 0; j < kColumns; ++j)
      expected.push_back(static_cast<float>(in[i + j] / std::sqrt(squares + kLarge) * scale[j]));
  }
  expect_close(values_of(y), expected, 1e-6, "y");
}

}  // namespace
}  // namespace podium::test
