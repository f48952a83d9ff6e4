#include "worker/tensor/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace podium {
namespace {

// From the known-answer file of Random123, the authors' own library.
TEST(Philox, GivesTheKnownAnswers) {
  EXPECT_EQ(philox({0, 0}, {0, 0, 0, 0}), (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0xa4093822, 0x299f31d0}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, IsAFunctionOfSeedAndStream) {
  Random a(1, 2), same(1, 2), other_seed(2, 2), other_stream(1, 3);
  const std::uint64_t first = a.next_u64();
  EXPECT_EQ(same.next_u64(), first);
  EXPECT_NE(other_seed.next_u64(), first);
  EXPECT_NE(other_stream.next_u64(), first);
}

TEST(Random, SeeksAnyDraw) {
  Random in_order(1, 2);
  for (std::uint64_t index = 0; index < 11; ++index) {
    Random there(1, 2);
    there.seek(index);
    EXPECT_EQ(there.next_u32(), in_order.next_u32()) << index;
  }
}

TEST(Random, BelowIsUniform) {
  Random random(5, 6);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70000; ++i) ++counts[random.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);  // five standard deviations
}

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  Random random(7, 8);
  double sum = 0, squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.016);
  EXPECT_NEAR(squares / kDraws, 1, 0.023);
}

TEST(Random, UniformStaysBelowOne) {
  Random random(9, 10);
  double lowest = 1, highest = 0;
  for (int i = 0; i < 10000; ++i) {
    const double x = random.uniform();
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    lowest = std::min(lowest, x);
    highest = std::max(highest, x);
  }
  EXPECT_LT(lowest, 0.01);
  EXPECT_GT(highest, 0.99);
}

}  // namespace
}  // namespace podium
