// The 8-bit float conversions against a table made from the formats' definition: a sign, exponent bits of a
// bias, and mantissa bits (Micikevicius et al., "FP8 formats for deep learning", 2022, table 1).
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "worker/tensor/dtype.h"
#include "worker/tensor/random.h"

namespace podium::test {
namespace {

struct E4M3 {
  using Type = Float8E4M3;
  static constexpr int kMantissa = 3, kBias = 7, kLargestCode = 0x7e;
  static constexpr float kLargest = 448.0F, kSmallestNormal = 0x1p-6F, kSmallest = 0x1p-9F;
  static constexpr const char* kName = "e4m3";
};
struct E5M2 {
  using Type = Float8E5M2;
  static constexpr int kMantissa = 2, kBias = 15, kLargestCode = 0x7b;
  static constexpr float kLargest = 57344.0F, kSmallestNormal = 0x1p-14F, kSmallest = 0x1p-16F;
  static constexpr const char* kName = "e5m2";
};

// Of a code without its sign, up to the largest finite one.
template <class Format>
double value_of(int code) {
  const int exponent = code >> Format::kMantissa, mantissa = code & ((1 << Format::kMantissa) - 1);
  const int hidden = exponent > 0 ? 1 << Format::kMantissa : 0;
  return std::ldexp(hidden + mantissa, std::max(exponent, 1) - Format::kBias - Format::kMantissa);
}

// The code of the nearest value, of two equally near ones the even code.
template <class Format>
int nearest(float value) {
  const double magnitude = std::abs(static_cast<double>(value));
  int best = 0;
  for (int code = 1; code <= Format::kLargestCode; ++code) {
    const double before = std::abs(value_of<Format>(best) - magnitude);
    const double now = std::abs(value_of<Format>(code) - magnitude);
    if (now < before || (now == before && code % 2 == 0)) best = code;
  }
  return best | (std::signbit(value) ? 0x80 : 0);
}

template <class Format>
int converted(float value) {
  return from_float<typename Format::Type>(value).bits;
}

template <class Format>
class Float8 : public testing::Test {};
using Formats = testing::Types<E4M3, E5M2>;
TYPED_TEST_SUITE(Float8, Formats);

TYPED_TEST(Float8, HasThePublishedLimits) {
  EXPECT_EQ(value_of<TypeParam>(TypeParam::kLargestCode), TypeParam::kLargest);
  EXPECT_EQ(value_of<TypeParam>(1 << TypeParam::kMantissa), TypeParam::kSmallestNormal);
  EXPECT_EQ(value_of<TypeParam>(1), TypeParam::kSmallest);
  EXPECT_EQ(TypeParam::Type::kLargest, TypeParam::kLargest);
}

TYPED_TEST(Float8, WidensEveryValueExactly) {
  for (int code = 0; code <= TypeParam::kLargestCode; ++code) {
    const auto expected = static_cast<float>(value_of<TypeParam>(code));
    const float positive = to_float(typename TypeParam::Type{static_cast<std::uint8_t>(code)});
    const float negative = to_float(typename TypeParam::Type{static_cast<std::uint8_t>(code | 0x80)});
    EXPECT_EQ(std::bit_cast<std::uint32_t>(positive), std::bit_cast<std::uint32_t>(expected)) << code;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(negative), std::bit_cast<std::uint32_t>(-expected)) << code;
  }
  for (int code = TypeParam::kLargestCode + 1; code < 0x80; ++code) {
    const float value = to_float(typename TypeParam::Type{static_cast<std::uint8_t>(code)});
    EXPECT_TRUE(code == 0x7c ? std::isinf(value) : std::isnan(value)) << code;  // E5M2 alone has infinity
  }
}

TYPED_TEST(Float8, RoundsToNearestEven) {
  Random random(1, 2);
  for (int i = 0; i < 100000; ++i) {
    const float value = std::ldexp(random.uniform() * 2 - 1, static_cast<int>(random.next_u32() % 44) - 24);
    EXPECT_EQ(converted<TypeParam>(value), nearest<TypeParam>(value)) << value;
  }
  for (int code = 0; code < TypeParam::kLargestCode; ++code) {
    const auto low = static_cast<float>(value_of<TypeParam>(code));
    const auto high = static_cast<float>(value_of<TypeParam>(code + 1));
    const float middle = (low + high) / 2;
    for (const float value : {low, middle, std::nextafter(middle, 0.0F), std::nextafter(middle, high)}) {
      EXPECT_EQ(converted<TypeParam>(value), nearest<TypeParam>(value)) << value;
      EXPECT_EQ(converted<TypeParam>(-value), nearest<TypeParam>(-value)) << -value;
    }
  }
  EXPECT_EQ(converted<TypeParam>(std::numeric_limits<float>::denorm_min()), 0);
}

TYPED_TEST(Float8, SaturatesAndKeepsNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float large :
       {std::nextafter(TypeParam::kLargest, infinity), 1e6F, std::numeric_limits<float>::max(), infinity}) {
    EXPECT_EQ(converted<TypeParam>(large), TypeParam::kLargestCode);
    EXPECT_EQ(converted<TypeParam>(-large), TypeParam::kLargestCode | 0x80);
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(converted<TypeParam>(nan) & 0x7f, 0x7f);
  EXPECT_TRUE(std::isnan(to_float(from_float<typename TypeParam::Type>(nan))));
}

TYPED_TEST(Float8, IsAnElementTypeOfOneByte) {
  EXPECT_EQ(size_of(dtype_of<typename TypeParam::Type>), 1U);
  EXPECT_EQ(to_string(dtype_of<typename TypeParam::Type>), TypeParam::kName);
}

TEST(Int8, IsAnElementTypeOfOneByte) {
  EXPECT_EQ(dtype_of<std::int8_t>, DType::i8);
  EXPECT_EQ(size_of(DType::i8), 1U);
  EXPECT_EQ(to_string(DType::i8), "i8");
}

}  // namespace
}  // namespace podium::test
