// Every way a product for inference goes, against its definition in double precision.
#include "worker/ops/inference_linear.h"

#include <algorithm>
#include <numbers>
#include <tuple>

#include "tests/worker/ops/quantised_values.h"

namespace podium::test {
namespace {

using ops::Activation;

// Weights of which two in each four stand at `positions`; without sparsity all.
struct SparseMatrix {
  Values dense, kept;
  std::vector<std::uint8_t> positions;
};

SparseMatrix random_sparse(const Values& values) {
  SparseMatrix m;
  m.dense.assign(values.size(), 0.0F);
  Random random(5, 1);
  for (std::size_t group = 0; group < values.size() / 4; ++group) {
    std::uint32_t first = random.below(4), second = random.below(3);
    if (second >= first) ++second;
    if (second < first) std::swap(first, second);
    for (const std::uint32_t place : {first, second}) {
      m.dense[4 * group + place] = values[4 * group + place];
      m.kept.push_back(values[4 * group + place]);
    }
    const std::uint32_t nibble = first | second << 2;
    if (group % 2 == 0) m.positions.push_back(0);
    m.positions.back() = static_cast<std::uint8_t>(m.positions.back() | nibble << (group % 2 * 4));
  }
  return m;
}

Tensor bytes_tensor(const std::vector<std::uint8_t>& bytes, const Shape& shape) {
  Tensor tensor(DType::u8, shape);
  std::ranges::copy(bytes, tensor.view().values<std::uint8_t>().begin());
  return tensor;
}

double activated(Activation activation, double v) {
  if (activation == Activation::none) return v;
  if (activation == Activation::gelu) return 0.5 * v * (1 + std::erf(v / std::numbers::sqrt2));
  return 0.5 * v * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v)));
}

struct Sizes {
  std::int64_t rows, out, in;
};

// x, dense weights, scales, bias and residual → v of the op's definition.
Values expected(const Sizes& s, const Values& x, const Values& w, const Values& scales, const Values& bias,
                const Values& residual, Activation activation) {
  Values y;
  for (std::int64_t r = 0; r < s.rows; ++r) {
    for (std::int64_t o = 0; o < s.out; ++o) {
      double sum = 0;
      for (std::int64_t k = 0; k < s.in; ++k)
        sum += static_cast<double>(x[static_cast<std::size_t>(r * s.in + k)]) *
               w[static_cast<std::size_t>(o * s.in + k)];
      const double v = activated(
          activation, sum * scales[static_cast<std::size_t>(o)] + bias[static_cast<std::size_t>(o)]);
      y.push_back(static_cast<float>(v + residual[static_cast<std::size_t>(r * s.out + o)]));
    }
  }
  return y;
}

struct Case {
  Sizes sizes;
  DType type;  // of x and the weights
  DType y_type;
  Activation activation;
  bool residual;
};

class InferenceLinear : public testing::TestWithParam<bool> {  // sparse?
 protected:
  void check(const Case& c) const {
    SCOPED_TRACE(testing::Message() << to_string(c.type) << " to " << to_string(c.y_type) << " rows "
                                    << c.sizes.rows << " out " << c.sizes.out << " in " << c.sizes.in);
    Context context = make_context(2);
    const auto [rows, out, in] = c.sizes;
    const bool short_type = ops::is_quantised(c.type), short_y = ops::is_quantised(c.y_type);
    const Values x = short_type ? random_quantised(c.type, rows * in, 1) : random_values(rows * in, 1);
    const Values w = short_type ? random_quantised(c.type, out * in, 2) : random_values(out * in, 2, 0.25);
    const Values bias = random_values(out, 3),
                 residual = c.residual ? random_values(rows * out, 4) : zeros(rows * out);
    const SparseMatrix sparse = random_sparse(w);
    const Tensor x_tensor = tensor(x, c.type, {rows, in}), bias_tensor = tensor(bias, DType::f32, {out});
    const Tensor values =
        GetParam() ? tensor(sparse.kept, c.type, {out, in / 2}) : tensor(w, c.type, {out, in});
    const Tensor positions = bytes_tensor(sparse.positions, {out, in / 8});
    const Tensor residual_tensor = short_y ? Tensor() : tensor(residual, c.y_type, {rows, out});
    Values scales(static_cast<std::size_t>(out), 1.0F);
    if (short_type)
      for (std::size_t o = 0; o < scales.size(); ++o) scales[o] = 1e-4F * static_cast<float>(o % 5 + 1);
    const Tensor scales_tensor = tensor(scales, DType::f32, {out});
    ops::InferenceWeight weight{.values = values.view(), .bias = bias_tensor.view()};
    if (GetParam()) weight.positions = positions.view();
    if (short_type) weight.scales = scales_tensor.view();
    ops::InferenceEpilogue epilogue{.activation = c.activation, .y_scale = 0.02F};
    if (c.residual) epilogue.residual = residual_tensor.view();
    Tensor y(c.y_type, {rows, out}), again(c.y_type, {rows, out});
    ops::inference_linear(context, x_tensor.view(), weight, epilogue, y.view());
    ops::inference_linear(context, x_tensor.view(), weight, epilogue, again.view());
    const Values exact =
        expected(c.sizes, x, GetParam() ? sparse.dense : w, scales, bias, residual, c.activation);
    if (short_y) return expect_quantised(y, exact, epilogue.y_scale, 1e-3);
    const double tolerance = c.y_type == DType::f32 ? 1e-5 : c.y_type == DType::bf16 ? 4e-3 : 5e-4;
    expect_close(values_of(y), exact, tolerance, "y");
    EXPECT_EQ(values_of(y), values_of(again));
  }

 private:
  static Tensor tensor(const Values& values, DType type, const Shape& shape) {
    return ops::is_quantised(type) ? quantised_tensor_of(values, type, shape)
                                   : tensor_of(values, type, shape);
  }
  static Values zeros(std::int64_t count) { return Values(static_cast<std::size_t>(count), 0.0F); }
};

constexpr Sizes kSmall{3, 16, 64};

TEST_P(InferenceLinear, MultipliesEveryType) {
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    check({kSmall, type, type, Activation::none, false});
    check({kSmall, type, DType::f32, Activation::none, false});
  }
}

TEST_P(InferenceLinear, MultipliesEightBits) {
  for (const DType type : {DType::i8, DType::e4m3}) {
    for (const DType y_type : {DType::f32, DType::bf16, DType::f16, type})
      check({kSmall, type, y_type, Activation::none, false});
    check({kSmall, type, DType::f16, Activation::none, true});
    check({kSmall, type, type, Activation::gelu, false});
    check({{130, 72, 128}, type, type, Activation::none, false});
  }
}

TEST_P(InferenceLinear, TakesAnyNumberOfRows) {
  for (const std::int64_t rows : {1, 8, 17, 130})
    check({{rows, 72, 128}, DType::f16, DType::f16, Activation::none, true});
}

TEST_P(InferenceLinear, TakesAnyNumberOfOutputs) {
  for (const std::int64_t out : {2, 7, 33})
    check({{5, out, 64}, DType::f16, DType::f32, Activation::none, false});
}

TEST_P(InferenceLinear, ActivatesAndThenAddsTheResidual) {
  for (const Activation activation : {Activation::none, Activation::gelu, Activation::gelu_tanh}) {
    for (const bool residual : {false, true}) {
      check({kSmall, DType::f32, DType::f32, activation, residual});
      check({kSmall, DType::bf16, DType::bf16, activation, residual});
      check({kSmall, DType::f16, DType::f16, activation, residual});
    }
  }
}

TEST_P(InferenceLinear, MayWriteOverTheResidual) {
  Context context = make_context(2);
  const Tensor x = tensor_of(random_values(4 * 32, 1), DType::f16, {4, 32});
  const Tensor w = tensor_of(random_values(8 * 32, 2), DType::f16, {8, 32});
  const Tensor residual = tensor_of(random_values(4 * 8, 3), DType::f16, {4, 8});
  Tensor in_place = tensor_of(random_values(4 * 8, 3), DType::f16, {4, 8}), apart(DType::f16, {4, 8});
  ops::InferenceWeight weight{.values = w.view()};
  ops::inference_linear(context, x.view(), weight, {.residual = residual.view()}, apart.view());
  ops::inference_linear(context, x.view(), weight, {.residual = in_place.view()}, in_place.view());
  EXPECT_EQ(values_of(in_place), values_of(apart));
}

INSTANTIATE_TEST_SUITE_P(Weights, InferenceLinear, testing::Bool(),
                         [](const auto& instance) { return instance.param ? "sparse" : "dense"; });

}  // namespace
}  // namespace podium::test
