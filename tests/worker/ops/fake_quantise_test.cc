// Rounding to 8 bits in the type of training, against the definition: values of the formats searched one by
// one, and gradients by the rule that they pass where nothing saturates.
#include "worker/ops/fake_quantise.h"

#include <algorithm>
#include <limits>

#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// All values of the format, in order.
std::vector<double> values_of_format(DType type) {
  std::vector<double> values;
  if (type == DType::i8)
    for (int v = -128; v <= 127; ++v) values.push_back(v);
  if (type == DType::e4m3)
    for (int code = 0; code < 0x7f; ++code) {
      const int exponent = code >> 3, digits = code & 7;
      const double value = std::ldexp((exponent > 0 ? 8 : 0) + digits, std::max(exponent, 1) - 10);
      values.push_back(value);
      if (code > 0) values.push_back(-value);
    }
  std::ranges::sort(values);
  return values;
}

// Of two equally near values that with an even last digit.
double nearest(const std::vector<double>& values, DType type, double x) {
  const auto above = std::ranges::lower_bound(values, x);
  if (above == values.end()) return values.back();
  if (above == values.begin() || *above == x) return *above;
  const double up = *above, down = *(above - 1);
  if (up - x != x - down) return up - x < x - down ? up : down;
  const double step = up - down;
  const bool up_is_even = type == DType::i8 ? std::fmod(up, 2) == 0 : std::fmod(up / step, 2) == 0;
  return up_is_even ? up : down;
}

double largest_of(DType type) { return type == DType::i8 ? 127 : 448; }

struct Rounded {
  Values y;
  std::vector<bool> passes;  // the gradient
};

// As inference computes: of a tensor x * (1 / scale), of a weight x / scale, in f32.
Rounded rounded(DType format, DType type, const Tensor& x, const Values& ranges) {
  const std::vector<double> values = values_of_format(format);
  const std::size_t columns = static_cast<std::size_t>(x.shape()[1]);
  Rounded result;
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.shape().size()); ++i) {
    const bool weight = ranges.size() > 1;
    const float scale = ranges[weight ? i / columns : 0] / static_cast<float>(largest_of(format));
    const float scaled = weight ? value_at(x, i) / scale : value_at(x, i) * (1.0F / scale);
    const double q = nearest(values, format, scaled);
    result.y.push_back(value_at(tensor_of({static_cast<float>(q) * scale}, type, {1, 1}), 0));
    const bool i8_fits = std::nearbyint(scaled) >= -128 && std::nearbyint(scaled) <= 127;
    result.passes.push_back(format == DType::i8 ? i8_fits : std::abs(scaled) <= 448);
  }
  return result;
}

class FakeQuantise : public testing::TestWithParam<std::tuple<DType, DType>> {
 protected:
  Values result(const Tensor& x, const Values& ranges) {
    Tensor y(type_, x.shape());
    const Tensor held = tensor_of(ranges, DType::f32, {static_cast<std::int64_t>(ranges.size())});
    ops::fake_quantise(context_, x.view(), format_, held.view(), y.view());
    return values_of(y);
  }
  Values widened(const Tensor& x, const Values& ranges) {
    Tensor held = tensor_of(ranges, DType::f32, {static_cast<std::int64_t>(ranges.size())});
    ops::widen_ranges(context_, x.view(), held.view());
    return values_of(held);
  }

  const DType format_ = std::get<0>(GetParam()), type_ = std::get<1>(GetParam());
  Context context_ = make_context(2);
};

const std::vector<Shape> kShapes{{3, 8}, {5, 33}, {40, 144}, {2, 4100}};

TEST_P(FakeQuantise, RoundsATensorToTheNearestValues) {
  for (const Shape& shape : kShapes) {
    const Tensor x = tensor_of(random_values(shape.size(), 1), type_, shape);
    for (const float range : {0.7F, 3.0F, 1e-3F, 50.0F})
      EXPECT_EQ(result(x, {range}), rounded(format_, type_, x, {range}).y)
          << to_string(shape) << " " << range;
  }
}

TEST_P(FakeQuantise, RoundsRowsByTheirOwnRanges) {
  for (const Shape& shape : kShapes) {
    const Tensor x = tensor_of(random_values(shape.size(), 2), type_, shape);
    Values ranges;
    for (std::int64_t row = 0; row < shape[0]; ++row) ranges.push_back(0.5F + static_cast<float>(row));
    EXPECT_EQ(result(x, ranges), rounded(format_, type_, x, ranges).y) << to_string(shape);
  }
}

TEST_P(FakeQuantise, MayReplaceItsInput) {
  Tensor x = tensor_of(random_values(5 * 33, 3), type_, {5, 33});
  const Values expected = result(x, {1.5F});
  const Tensor range = tensor_of({1.5F}, DType::f32, {1});
  ops::fake_quantise(context_, x.view(), format_, range.view(), x.view());
  EXPECT_EQ(values_of(x), expected);
}

TEST_P(FakeQuantise, GradientsPassWhereNothingSaturates) {
  for (const Shape& shape : kShapes) {
    const Tensor x = tensor_of(random_values(shape.size(), 4), type_, shape);
    const Values dy = random_values(shape.size(), 5), before = random_values(shape.size(), 6);
    const Tensor given = tensor_of(dy, type_, shape), range = tensor_of({0.9F}, DType::f32, {1});
    Tensor replaced = tensor_of(before, type_, shape), added = tensor_of(before, type_, shape);
    ops::fake_quantise_backward(context_, x.view(), format_, range.view(), given.view(), false,
                                replaced.view());
    ops::fake_quantise_backward(context_, x.view(), format_, range.view(), given.view(), true, added.view());
    const std::vector<bool> passes = rounded(format_, type_, x, {0.9F}).passes;
    Values once, sum;
    for (std::size_t i = 0; i < dy.size(); ++i) {
      once.push_back(passes[i] ? dy[i] : 0.0F);
      sum.push_back(value_at(tensor_of({before[i] + once.back()}, type_, {1, 1}), 0));
    }
    EXPECT_NE(once, dy) << "some saturate";
    EXPECT_EQ(values_of(replaced), once);
    EXPECT_EQ(values_of(added), sum);
  }
}

TEST_P(FakeQuantise, ABoundIsWithinWhereItRoundsToTheLargestValue) {
  const float range = static_cast<float>(largest_of(format_));  // a scale of 1
  const Values x = format_ == DType::i8 ? Values{127.25F, 127.5F, -128.5F, -129.0F, 127.0F, -128.0F}
                                        : Values{448.0F, 450.0F, -448.0F, -450.0F, 447.0F, 0.0F};
  const Values expected{1, 0, 1, 0, 1, 1};
  if (type_ == DType::bf16) return;  // which has not these values
  const Tensor held = tensor_of(x, type_, {1, 6}), ones = tensor_of(Values(6, 1.0F), type_, {1, 6});
  const Tensor of_tensor = tensor_of({range}, DType::f32, {1});
  Tensor dx(type_, {1, 6});
  ops::fake_quantise_backward(context_, held.view(), format_, of_tensor.view(), ones.view(), false,
                              dx.view());
  EXPECT_EQ(values_of(dx), expected);
}

TEST_P(FakeQuantise, RangesWidenToTheLargestMagnitudes) {
  for (const Shape& shape : kShapes) {
    const Tensor x = tensor_of(random_values(shape.size(), 7), type_, shape);
    const auto rows = static_cast<std::size_t>(shape[0]), columns = static_cast<std::size_t>(shape[1]);
    Values of_rows(rows, 0.0F);
    for (std::size_t i = 0; i < rows * columns; ++i)
      of_rows[i / columns] = std::max(of_rows[i / columns], std::abs(value_at(x, i)));
    const float all = *std::ranges::max_element(of_rows);
    EXPECT_EQ(widened(x, Values(rows, 0.0F)), of_rows);
    EXPECT_EQ(widened(x, {0.0F}), Values{all});
    EXPECT_EQ(widened(x, {2 * all}), Values{2 * all}) << "a range never shrinks";
    Values half(rows, 0.0F);
    for (std::size_t row = 0; row < rows; row += 2) half[row] = of_rows[row] = 1000.0F;
    EXPECT_EQ(widened(x, half), of_rows);
  }
}

TEST_P(FakeQuantise, WhatIsNotANumberShows) {
  for (const float bad : {kNaN, kInfinity, -kInfinity}) {
    Values values = random_values(4 * 40, 8);
    values[77] = bad;
    const Tensor x = tensor_of(values, type_, {4, 40});
    EXPECT_EQ(widened(x, {1.0F}), Values{kInfinity});
    EXPECT_EQ(widened(x, Values(4, 1.0F))[1], kInfinity);
    EXPECT_NE(widened(x, Values(4, 1.0F))[2], kInfinity);
    const float y = result(x, {1.0F})[77];
    EXPECT_TRUE(std::isnan(bad) ? std::isnan(y)
                                : std::abs(y) <= 1.01F && std::signbit(y) == std::signbit(bad))
        << bad << " became " << y;
  }
}

// Nothing but zeros has been seen.
TEST_P(FakeQuantise, ARangeOfZeroRoundsByAScaleOfOne) {
  const Tensor x = tensor_of({0.0F, 0.25F, -3.0F, 2.0F}, type_, {1, 4});
  const Values expected =
      format_ == DType::i8 ? Values{0.0F, 0.0F, -3.0F, 2.0F} : Values{0.0F, 0.25F, -3.0F, 2.0F};
  EXPECT_EQ(result(x, {0.0F}), expected);
}

TEST_P(FakeQuantise, GivesTheSameBitsWithAnyNumberOfThreads) {
  const Tensor x = tensor_of(random_values(70 * 144, 9), type_, {70, 144});
  const Values y = result(x, {1.0F}), range = widened(x, {0.0F});
  context_ = make_context(3);
  EXPECT_EQ(result(x, {1.0F}), y);
  EXPECT_EQ(widened(x, {0.0F}), range);
}

INSTANTIATE_TEST_SUITE_P(All, FakeQuantise,
                         testing::Combine(testing::Values(DType::i8, DType::e4m3),
                                          testing::Values(DType::f32, DType::bf16, DType::f16)),
                         [](const auto& instance) {
                           return std::string(to_string(std::get<0>(instance.param))) + "_in_" +
                                  std::string(to_string(std::get<1>(instance.param)));
                         });

}  // namespace
}  // namespace podium::test
