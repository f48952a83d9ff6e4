// FP8 layers against their definition: elements found by searching a table of the format's values, products
// in double precision.
#include "worker/ops/float8.h"

#include <algorithm>
#include <limits>

#include "tests/worker/ops/gelu_values.h"
#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

using ops::Float8Layout;
using ops::Float8Matrix;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Format {
  DType type;
  int mantissa, bias, largest_code;
  double largest;

  double value(int code) const {
    const int exponent = code >> mantissa, digits = code & ((1 << mantissa) - 1);
    const int hidden = exponent > 0 ? 1 << mantissa : 0;
    return std::ldexp(hidden + digits, std::max(exponent, 1) - bias - mantissa);
  }
  int nearest(double x) const {  // of two equally near codes the even one
    int best = 0;
    for (int code = 1; code <= largest_code; ++code) {
      const double before = std::abs(value(best) - std::abs(x)), now = std::abs(value(code) - std::abs(x));
      if (now < before || (now == before && code % 2 == 0)) best = code;
    }
    return best | (std::signbit(x) ? 0x80 : 0);
  }
};

constexpr Format kE4M3{DType::e4m3, 3, 7, 0x7e, 448.0}, kE5M2{DType::e5m2, 2, 15, 0x7b, 57344.0};

// By which elements are multiplied; 0 where all are 0.
double scale_of(const Format& format, const Values& x) {
  double largest = 0;
  for (const float v : x) largest = std::max(largest, std::abs(static_cast<double>(v)));
  return largest == 0 ? 0.0 : std::exp2(-std::floor(std::log2(format.largest / largest)));
}

// What the matrix in FP8 stands for.
std::vector<double> rounded(const Format& format, const Values& x) {
  const double scale = scale_of(format, x);
  std::vector<double> values;
  for (const float v : x) {
    const int code = scale == 0 ? 0 : format.nearest(v / scale);
    values.push_back(format.value(code & 0x7f) * scale * ((code & 0x80) != 0 ? -1 : 1));
  }
  return values;
}

std::int64_t filled_up(std::int64_t rows) { return (rows + 15) / 16 * 16; }

std::vector<int> codes_of(const TensorView& view) {
  const auto* const bytes = static_cast<const std::uint8_t*>(view.address);
  return {bytes, bytes + view.size()};
}

struct Cast {
  Arena arena;
  Float8Matrix matrix;

  Cast(Context& context, const Tensor& x, DType type, Float8Layout layout = Float8Layout::both)
      : matrix(ops::allocate_float8(arena, type, x.shape(), layout)) {
    ops::to_float8(context, x.view(), matrix);
  }
  std::vector<int> rows() const { return codes_of(matrix.by_rows); }
  std::vector<int> columns() const { return codes_of(matrix.by_columns); }
  float scale() const { return *matrix.scale.data<float>(); }
};

class Float8Cast : public testing::TestWithParam<std::tuple<const Format*, DType>> {
 protected:
  const Format& format_ = *std::get<0>(GetParam());
  DType from_ = std::get<1>(GetParam());
  Context context_ = make_context(2);
};

TEST_P(Float8Cast, FindsTheNearestElementsInBothLayouts) {
  const Shape shapes[] = {{1, 16}, {3, 32}, {16, 16}, {17, 48}, {64, 128}, {65, 144}, {130, 272}};
  for (const Shape& shape : shapes) {
    const std::int64_t rows = shape[0], columns = shape[1], pitch = filled_up(rows);
    const Values values = random_values(shape.size(), 5, 3e-3);
    const Cast cast(context_, tensor_of(values, from_, shape), format_.type);
    const double scale = scale_of(format_, values_of(tensor_of(values, from_, shape)));
    EXPECT_EQ(cast.scale(), scale) << to_string(shape);
    std::vector<int> by_rows, by_columns(static_cast<std::size_t>(columns * pitch), 0);
    for (const float v : values_of(tensor_of(values, from_, shape)))
      by_rows.push_back(format_.nearest(v / scale));
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        by_columns[static_cast<std::size_t>(c * pitch + r)] =
            by_rows[static_cast<std::size_t>(r * columns + c)];
    EXPECT_EQ(cast.rows(), by_rows) << to_string(shape);
    EXPECT_EQ(cast.columns(), by_columns) << to_string(shape);
  }
}

TEST_P(Float8Cast, MakesOneLayoutAlone) {
  const Tensor x = tensor_of(random_values(33 * 80, 6), from_, {33, 80});
  const Cast both(context_, x, format_.type), rows(context_, x, format_.type, Float8Layout::rows),
      columns(context_, x, format_.type, Float8Layout::columns);
  EXPECT_EQ(rows.rows(), both.rows());
  EXPECT_EQ(columns.columns(), both.columns());
  EXPECT_EQ(rows.matrix.by_columns.address, nullptr);
  EXPECT_EQ(columns.matrix.by_rows.address, nullptr);
}

TEST_P(Float8Cast, ReachesTheLargestElementWithoutSaturating) {
  for (const float largest : {448.0F, 449.0F, 57344.0F, 65000.0F, 6e-5F}) {
    Values values(16, largest / 4);
    values[3] = -largest;
    const Tensor x = tensor_of(values, from_, {1, 16});
    const Cast cast(context_, x, format_.type);
    const double element = std::abs(value_at(x, 3)) / static_cast<double>(cast.scale());
    EXPECT_LE(element, format_.largest);
    EXPECT_GT(element, format_.largest / 2);
  }
}

TEST_P(Float8Cast, LeavesZerosZero) {
  const Cast cast(context_, tensor_of(Values(5 * 32, 0.0F), from_, {5, 32}), format_.type);
  EXPECT_EQ(cast.rows(), std::vector<int>(5 * 32, 0));
  EXPECT_EQ(cast.columns(), std::vector<int>(16 * 32, 0));
  EXPECT_TRUE(std::isfinite(cast.scale()) && cast.scale() > 0);
}

TEST_P(Float8Cast, ShowsWhatIsNotFinite) {
  for (const float bad : {kInfinity, -kInfinity, kNaN}) {
    Values values = random_values(20 * 32, 7);
    values[333] = bad;
    const Cast cast(context_, tensor_of(values, from_, {20, 32}), format_.type);
    EXPECT_TRUE(std::isnan(cast.scale()));
    EXPECT_EQ(cast.rows()[333] & 0x7f, 0x7f);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Float8Cast,
                         testing::Combine(testing::Values(&kE4M3, &kE5M2),
                                          testing::Values(DType::f32, DType::bf16, DType::f16)),
                         [](const auto& instance) {
                           return std::string(to_string(std::get<0>(instance.param)->type)) + "_from_" +
                                  std::string(to_string(std::get<1>(instance.param)));
                         });

// result[m, n] = a[m, k] b[k, n], with strides of both.
std::vector<double> multiplied(const std::vector<double>& a, const std::vector<double>& b, std::int64_t m,
                               std::int64_t n, std::int64_t k, bool a_by_columns, bool b_by_columns) {
  std::vector<double> c(static_cast<std::size_t>(m * n), 0.0);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t l = 0; l < k; ++l)
        c[static_cast<std::size_t>(i * n + j)] +=
            a[static_cast<std::size_t>(a_by_columns ? l * m + i : i * k + l)] *
            b[static_cast<std::size_t>(b_by_columns ? j * k + l : l * n + j)];
  return c;
}

Values floats(const std::vector<double>& values) { return {values.begin(), values.end()}; }

class Float8Linear : public testing::TestWithParam<DType> {
 protected:
  static constexpr std::int64_t kRows = 21, kIn = 48, kOut = 32;

  ops::LinearWeight weight(const Tensor& master) const {
    return {.master = master.view(), .generation = 1, .packed = nullptr};
  }

  const DType type_ = GetParam();
  // Forward's and backward's products see elements; beyond them only y and dx are rounded.
  const double tolerance_ = type_ == DType::bf16 ? 4e-3 : 5e-4;
  Context context_ = make_context(2);
  const Values x_ = random_values(kRows * kIn, 1), w_ = random_values(kOut * kIn, 2, 0.02),
               b_ = random_values(kOut, 3), dy_ = random_values(kRows * kOut, 4, 0.1);
  const Tensor x16_ = tensor_of(x_, type_, {kRows, kIn}), dy16_ = tensor_of(dy_, type_, {kRows, kOut});
  const Tensor master_ = tensor_of(w_, DType::f32, {kOut, kIn}), bias_ = tensor_of(b_, DType::f32, {kOut});
  const Cast x8_{context_, x16_, DType::e4m3}, dy8_{context_, dy16_, DType::e5m2};
  const std::vector<double> x_exact_ = rounded(kE4M3, values_of(x16_)), w_exact_ = rounded(kE4M3, w_),
                            dy_exact_ = rounded(kE5M2, values_of(dy16_));
};

TEST_P(Float8Linear, ForwardMultipliesTheElements) {
  ops::LinearWeight w = weight(master_);
  Tensor y(type_, {kRows, kOut}), without_bias(type_, {kRows, kOut});
  ops::float8_linear_forward(context_, x8_.matrix, w, bias_.view(), y.view());
  ops::float8_linear_forward(context_, x8_.matrix, w, {}, without_bias.view());
  std::vector<double> expected = multiplied(x_exact_, w_exact_, kRows, kOut, kIn, false, true);
  expect_close(values_of(without_bias), floats(expected), tolerance_, "y without bias");
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += b_[i % kOut];
  expect_close(values_of(y), floats(expected), tolerance_, "y");
}

TEST_P(Float8Linear, BackwardMultipliesTheElements) {
  ops::LinearWeight w = weight(master_);
  Tensor dx(type_, {kRows, kIn}), dw(DType::f32, {kOut, kIn});
  ops::float8_linear_backward_input(context_, dy8_.matrix, w, dx.view());
  ops::float8_linear_backward_weight(context_, x8_.matrix, dy8_.matrix, dw.view());
  expect_close(values_of(dx), floats(multiplied(dy_exact_, w_exact_, kRows, kIn, kOut, false, false)),
               tolerance_, "dx");
  const Values once = floats(multiplied(dy_exact_, x_exact_, kOut, kIn, kRows, true, false));
  expect_close(values_of(dw), once, kFloat8SumTolerance, "dw");
  ops::float8_linear_backward_weight(context_, x8_.matrix, dy8_.matrix, dw.view());
  Values twice = once;
  for (float& v : twice) v *= 2;
  expect_close(values_of(dw), twice, kFloat8SumTolerance, "dw added to");
}

TEST_P(Float8Linear, BackwardInputAccumulatesMultipliesAndSums) {
  ops::LinearWeight w = weight(master_);
  const Values before = random_values(kRows * kIn, 5, 0.1);
  Tensor gelu = tensor_of(before, type_, {kRows, kIn});
  Tensor plain(type_, {kRows, kIn}), summed = tensor_of(before, type_, {kRows, kIn}),
                                     scaled(type_, {kRows, kIn}), sums(DType::f32, {kIn});
  ops::float8_linear_backward_input(context_, dy8_.matrix, w, plain.view());
  ops::float8_linear_backward_input(context_, dy8_.matrix, w, summed.view(), {.accumulate = true});
  ops::float8_linear_backward_input(
      context_, dy8_.matrix, w, scaled.view(),
      {.gelu = saved_gelu(context_, gelu, ops::GeluKind::erf), .column_sums = sums.view()});
  Values sum = values_of(plain), product = values_of(plain), columns(kIn, 0.0F);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += before[i];
    product[i] *= static_cast<float>(gelu_slope(ops::GeluKind::erf, before[i]));
  }
  for (std::size_t i = 0; i < sum.size(); ++i) columns[i % kIn] += value_at(scaled, i);
  expect_close(values_of(summed), sum, 2 * tolerance_, "sum");
  expect_close(values_of(scaled), product, 2 * tolerance_, "product");
  expect_close(values_of(sums), columns, 2 * tolerance_, "column sums");
}

TEST_P(Float8Linear, ConvertsTheMasterOnceAGeneration) {
  Tensor master = tensor_of(w_, DType::f32, {kOut, kIn});
  ops::LinearWeight w = weight(master);
  const auto y = [&] {
    Tensor result(type_, {kRows, kOut});
    ops::float8_linear_forward(context_, x8_.matrix, w, {}, result.view());
    return values_of(result);
  };
  const Values once = y();
  for (float& v : master.view().values<float>()) v *= 2;
  EXPECT_EQ(y(), once) << "without a new generation the copy counts";
  w.generation = 2;
  Values doubled = once;
  for (float& v : doubled) v *= 2;
  EXPECT_EQ(y(), doubled);
}

TEST_P(Float8Linear, ShowsAnOverflowInEveryResult) {
  Values values = dy_;
  values[5] = kInfinity;
  const Cast dy(context_, tensor_of(values, type_, {kRows, kOut}), DType::e5m2);
  ops::LinearWeight w = weight(master_);
  Tensor dx(type_, {kRows, kIn}), dw(DType::f32, {kOut, kIn});
  ops::float8_linear_backward_input(context_, dy.matrix, w, dx.view());
  ops::float8_linear_backward_weight(context_, x8_.matrix, dy.matrix, dw.view());
  const auto is_nan = [](float v) { return std::isnan(v); };
  EXPECT_TRUE(std::ranges::all_of(values_of(dx), is_nan));
  EXPECT_TRUE(std::ranges::all_of(values_of(dw), is_nan));
}

TEST_P(Float8Linear, AddsColumnSums) {
  Tensor sums(DType::f32, {kOut});
  ops::add_column_sums(context_, dy16_.view(), sums.view());
  ops::add_column_sums(context_, dy16_.view(), sums.view());
  Values expected(kOut, 0.0F);
  for (std::size_t i = 0; i < kRows * kOut; ++i) expected[i % kOut] += 2 * value_at(dy16_, i);
  expect_close(values_of(sums), expected, 1e-5, "sums");
}

TEST_P(Float8Linear, GivesTheSameBitsWithAnyNumberOfThreads) {
  Context other = make_context(3);
  const Cast again(other, x16_, DType::e4m3);
  EXPECT_EQ(again.rows(), x8_.rows());
  EXPECT_EQ(again.columns(), x8_.columns());
  EXPECT_EQ(again.scale(), x8_.scale());
}

INSTANTIATE_TEST_SUITE_P(All, Float8Linear, testing::Values(DType::bf16, DType::f16),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

}  // namespace
}  // namespace podium::test
