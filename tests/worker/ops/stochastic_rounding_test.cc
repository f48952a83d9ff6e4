// Stochastic rounding of weights, seen through products with the identity: y = I W^T has each weight as it
// takes part.
#include "worker/ops/stochastic_rounding.h"

#include "tests/worker/ops/op_check.h"
#include "worker/ops/linear.h"

namespace podium::test {
namespace {

using ops::RoundedPart;
using ops::StochasticRounding;

constexpr std::int64_t kOut = 12, kIn = 40;
constexpr std::uint64_t kName = 0x0123456789abcdef;

// The weights as products in `type` see them, [out, in].
Values seen(Context& context, DType type, const Values& weights, std::int64_t out, std::int64_t in,
            const StochasticRounding& rounding) {
  Values identity(static_cast<std::size_t>(in * in), 0.0F);
  for (std::int64_t i = 0; i < in; ++i) identity[static_cast<std::size_t>(i * in + i)] = 1;
  const Tensor x = tensor_of(identity, type, {in, in}), master = tensor_of(weights, DType::f32, {out, in});
  ops::LinearWeight weight{.master = master.view(), .generation = 1, .packed = nullptr, .rounding = rounding};
  Tensor y(type, {in, out});
  ops::linear_forward(context, x.view(), weight, {}, y.view());
  Values rounded;
  for (std::int64_t o = 0; o < out; ++o)
    for (std::int64_t i = 0; i < in; ++i)
      rounded.push_back(value_at(y, static_cast<std::size_t>(i * out + o)));
  return rounded;
}

// The nearest values of the type on both sides.
struct Neighbours {
  double below, above;
};
Neighbours neighbours(DType type, double value) {
  const int digits = type == DType::bf16 ? 7 : 10, least = type == DType::bf16 ? -133 : -24;
  const int exponent = value == 0 ? 0 : std::max(std::ilogb(value) - digits, least);
  const double step = std::ldexp(1.0, exponent);
  return {std::floor(value / step) * step, std::ceil(value / step) * step};
}

// The definition, in double precision.
Values expected(DType type, const Values& weights, std::int64_t in, PhiloxKey key, const RoundedPart& part) {
  Values rounded;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i) / in, column = static_cast<std::int64_t>(i) % in;
    const auto element = static_cast<std::uint64_t>(part.first + row * part.pitch + column);
    const PhiloxCounter draws = philox(
        key, {static_cast<std::uint32_t>(element / 8), static_cast<std::uint32_t>(element / 8 >> 32),
              static_cast<std::uint32_t>(part.parameter), static_cast<std::uint32_t>(part.parameter >> 32)});
    const double draw = (draws[element % 8 / 2] >> (element % 2 * 16) & 0xffffU) / 65536.0;
    const Neighbours near = neighbours(type, std::abs(weights[i]));
    const double above =
        near.above > near.below ? (std::abs(weights[i]) - near.below) / (near.above - near.below) : 0;
    rounded.push_back(
        static_cast<float>(std::copysign(above + draw >= 1 ? near.above : near.below, weights[i])));
  }
  return rounded;
}

Values weights_between(std::uint64_t stream, double scale, std::int64_t count = kOut * kIn) {
  Random random(7, stream);
  Values values(static_cast<std::size_t>(count));
  for (float& v : values) v = static_cast<float>(random.normal() * scale);
  return values;
}

class StochasticRoundingIn : public testing::TestWithParam<DType> {
 protected:
  Values seen(const Values& weights, std::int64_t out, std::int64_t in, const StochasticRounding& rounding) {
    return test::seen(context_, GetParam(), weights, out, in, rounding);
  }

  Context context_ = make_context(2);
};

TEST_P(StochasticRoundingIn, FollowsItsDefinitionToTheBit) {
  const PhiloxKey key = philox_key(3, 4);
  for (const RoundedPart& part :
       {RoundedPart{kName, kOut, 0, kIn}, RoundedPart{kName, kOut, 160, 80},
        RoundedPart{kName + 1, kOut, std::int64_t{1} << 40, 1000}, RoundedPart{kName, kOut, 13, 57}}) {
    const Values weights = weights_between(1, 0.02);
    EXPECT_EQ(seen(weights, kOut, kIn, {key, {part}}), expected(GetParam(), weights, kIn, key, part))
        << part.first;
  }
}

TEST_P(StochasticRoundingIn, IsRightOnAverage) {
  constexpr int kDraws = 400;
  const Values weights = weights_between(2, 0.02);
  std::vector<double> sums(weights.size());
  for (int step = 0; step < kDraws; ++step) {
    const Values rounded =
        seen(weights, kOut, kIn, {philox_key(1, static_cast<std::uint64_t>(step)), {{kName, kOut, 0, kIn}}});
    for (std::size_t i = 0; i < rounded.size(); ++i) sums[i] += rounded[i];
  }
  // A draw's deviation is at most half the distance of the neighbours.
  double bias = 0, variance = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Neighbours near = neighbours(GetParam(), weights[i]);
    const double deviation = (near.above - near.below) / 2 / std::sqrt(kDraws);
    EXPECT_NEAR(sums[i] / kDraws, weights[i], 5 * deviation);
    bias += sums[i] / kDraws - weights[i];
    variance += deviation * deviation;
  }
  EXPECT_LT(std::abs(bias), 4 * std::sqrt(variance));
}

TEST_P(StochasticRoundingIn, IsThatOfTheWholeInEverySlice) {
  const PhiloxKey key = philox_key(5, 6);
  const Values weights = weights_between(3, 0.02);
  const Values whole = seen(weights, kOut, kIn, {key, {{kName, kOut, 0, kIn}}});
  const auto columns = [&](const Values& of, std::int64_t begin, std::int64_t end) {
    Values cut;
    for (std::int64_t i = 0; i < kOut * kIn; ++i)
      if (i % kIn >= begin && i % kIn < end) cut.push_back(of[static_cast<std::size_t>(i)]);
    return cut;
  };
  for (const std::int64_t begin : {0, 16, 21})  // the last is no multiple of what is rounded together
    EXPECT_EQ(seen(columns(weights, begin, kIn), kOut, kIn - begin, {key, {{kName, kOut, begin, kIn}}}),
              columns(whole, begin, kIn));
  const Values below(weights.begin() + 5 * kIn, weights.end());
  EXPECT_EQ(seen(below, kOut - 5, kIn, {key, {{kName, kOut - 5, 5 * kIn, kIn}}}),
            Values(whole.begin() + 5 * kIn, whole.end()));
}

TEST_P(StochasticRoundingIn, TakesStackedParametersOneByOne) {
  const PhiloxKey key = philox_key(5, 6);
  const Values weights = weights_between(4, 0.02);
  const Values upper(weights.begin(), weights.begin() + 4 * kIn),
      lower(weights.begin() + 4 * kIn, weights.end());
  Values apart = seen(upper, 4, kIn, {key, {{1, 4, 0, kIn}}});
  const Values second = seen(lower, kOut - 4, kIn, {key, {{2, kOut - 4, 0, kIn}}});
  apart.insert(apart.end(), second.begin(), second.end());
  EXPECT_EQ(seen(weights, kOut, kIn, {key, {{1, 4, 0, kIn}, {2, kOut - 4, 0, kIn}}}), apart);
}

TEST_P(StochasticRoundingIn, LeavesWhatFitsAndReachesTheSmallest) {
  Values weights(kOut * kIn, 0.0F);
  weights[1] = -1.5F;
  weights[2] = 0.375F;
  const StochasticRounding rounding{philox_key(1, 1), {{kName, kOut, 0, kIn}}};
  EXPECT_EQ(seen(weights, kOut, kIn, rounding), weights);
  const Values tiny = weights_between(5, 3e-7);  // some steps of 2^-24, subnormal in f16
  EXPECT_EQ(seen(tiny, kOut, kIn, rounding),
            expected(GetParam(), tiny, kIn, rounding.key, rounding.parts[0]));
}

INSTANTIATE_TEST_SUITE_P(All, StochasticRoundingIn, testing::Values(DType::bf16, DType::f16),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

}  // namespace
}  // namespace podium::test
