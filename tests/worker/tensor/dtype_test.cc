// The 16-bit conversions against the compiler's own half type, value by value.
#include "worker/tensor/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "worker/tensor/random.h"

namespace podium::test {
namespace {

TEST(Float16, WidensEveryValueExactly) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const Float16 half{static_cast<std::uint16_t>(bits)};
    const float expected = static_cast<float>(std::bit_cast<_Float16>(half));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(to_float(half))) << bits;
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(to_float(half)), std::bit_cast<std::uint32_t>(expected)) << bits;
    }
  }
}

std::uint16_t rounded(float value) { return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)); }

TEST(Float16, RoundsToNearestEven) {
  Random random(1, 2);
  for (int i = 0; i < 1000000; ++i) {
    const float value = std::bit_cast<float>(random.next_u32());
    if (std::isnan(value)) continue;
    EXPECT_EQ(to_float16(value).bits, rounded(value)) << value;
  }
  for (std::uint32_t bits = 0; bits < 31744; ++bits) {  // every midpoint of two finite neighbours
    const float low = to_float(Float16{static_cast<std::uint16_t>(bits)});
    const float high = bits == 31743 ? 65536.0F : to_float(Float16{static_cast<std::uint16_t>(bits + 1)});
    const float middle = (low + high) / 2;
    for (const float value : {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, high)}) {
      EXPECT_EQ(to_float16(value).bits, rounded(value)) << value;
      EXPECT_EQ(to_float16(-value).bits, rounded(-value)) << -value;
    }
  }
}

TEST(Float16, KeepsWhatIsNotANumber) {
  EXPECT_TRUE(std::isnan(to_float(to_float16(std::nanf("")))));
  EXPECT_EQ(to_float16(1e6F).bits, 0x7c00);
  EXPECT_EQ(to_float16(-INFINITY).bits, 0xfc00);
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(std::nanf("")))));
}

}  // namespace
}  // namespace podium::test
