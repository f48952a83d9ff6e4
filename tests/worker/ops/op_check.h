// The three checks every op passes: gradients equal central finite differences (f32), bf16 and f16 stay close
// to f32, and two runs give the same bits. An op is presented as one function of flat f32 inputs.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "worker/tensor/context.h"
#include "worker/tensor/random.h"
#include "worker/tensor/tensor.h"

namespace podium::test {

using Values = std::vector<float>;

// Of the back end that the test program is linked for; `threads` where that computes with threads.
Context make_context(int threads);
// Of FP8 products that are summed in f32, as far as the back end does.
extern const double kFloat8SumTolerance;

struct OpRun {
  Values y;
  std::vector<Values> gradients;  // one for each input, given dy
};

// Computes y from the inputs in `type`, and the inputs' gradients from dy (shaped like y; empty: y alone).
using Op = std::function<OpRun(Context&, DType type, const std::vector<Values>& inputs, const Values& dy)>;

inline Values random_values(std::int64_t count, std::uint64_t stream, double scale = 1.0) {
  Random random(42, stream);
  Values values(static_cast<std::size_t>(count));
  for (float& v : values)
    v = to_float(to_bfloat16(static_cast<float>(random.normal() * scale)));  // exact in all types
  return values;
}

inline Tensor tensor_of(const Values& values, DType type, const Shape& shape) {
  Tensor tensor(type, shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (type == DType::f32) tensor.view().values<float>()[i] = values[i];
    if (type == DType::bf16) tensor.view().values<BFloat16>()[i] = to_bfloat16(values[i]);
    if (type == DType::f16) tensor.view().values<Float16>()[i] = to_float16(values[i]);
  }
  return tensor;
}

inline float value_at(const Tensor& tensor, std::size_t i) {
  if (tensor.dtype() == DType::f32) return tensor.view().values<float>()[i];
  if (tensor.dtype() == DType::bf16) return to_float(tensor.view().values<BFloat16>()[i]);
  return to_float(tensor.view().values<Float16>()[i]);
}

inline Values values_of(const Tensor& tensor) {
  Values values;
  for (std::int64_t i = 0; i < tensor.shape().size(); ++i) {
    values.push_back(value_at(tensor, static_cast<std::size_t>(i)));
  }
  return values;
}

inline double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

inline void expect_close(const Values& actual, const Values& expected, double tolerance,
                         const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double error = 0;
  for (std::size_t i = 0; i < actual.size(); ++i)
    error += std::pow(static_cast<double>(actual[i]) - expected[i], 2);
  const double norm = std::sqrt(dot(expected, expected));
  EXPECT_GT(norm, 0) << what << ": nothing to compare";
  EXPECT_LE(std::sqrt(error), tolerance * norm) << what;
}

// The gradient of dot(dy, y) with respect to one input, by central differences.
inline Values finite_differences(const Op& op, Context& context, std::vector<Values> inputs, const Values& dy,
                                 std::size_t index) {
  constexpr float kStep = 1.0F / 128;
  Values gradient;
  for (float& value : inputs[index]) {
    const float kept = value;
    value = kept + kStep;
    const Values above = op(context, DType::f32, inputs, {}).y;
    value = kept - kStep;
    const Values below = op(context, DType::f32, inputs, {}).y;
    value = kept;
    gradient.push_back(static_cast<float>((dot(dy, above) - dot(dy, below)) / (2.0 * kStep)));
  }
  return gradient;
}

// A 16-bit type against f32.
inline void check_half(const Op& op, DType type, const std::vector<Values>& inputs, const Values& dy,
                       const OpRun& exact, double tolerance) {
  Context context = make_context(2);
  const std::string name(to_string(type));
  const OpRun half = op(context, type, inputs, dy);
  expect_close(half.y, exact.y, tolerance, name + " y");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    expect_close(half.gradients[i], exact.gradients[i], 2 * tolerance,
                 name + " gradient of input " + std::to_string(i));
  }
}

inline void check_op(const Op& op, const std::vector<Values>& inputs, double gradient_tolerance = 1e-3) {
  Context context = make_context(2), other = make_context(3);
  const auto outputs = static_cast<std::int64_t>(op(context, DType::f32, inputs, {}).y.size());
  const Values dy = random_values(outputs, 99);
  const OpRun exact = op(context, DType::f32, inputs, dy);
  const OpRun again = op(context, DType::f32, inputs, dy), elsewhere = op(other, DType::f32, inputs, dy);
  EXPECT_EQ(exact.y, again.y);
  EXPECT_EQ(exact.gradients, again.gradients);
  expect_close(elsewhere.y, exact.y, 1e-5, "y with three threads");
  check_half(op, DType::bf16, inputs, dy, exact, 1e-2);
  check_half(op, DType::f16, inputs, dy, exact, 2e-3);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "gradient of input " + std::to_string(i);
    expect_close(exact.gradients[i], finite_differences(op, context, inputs, dy, i), gradient_tolerance,
                 name);
    expect_close(elsewhere.gradients[i], exact.gradients[i], 1e-5, name + " with three threads");
  }
}

}  // namespace podium::test
