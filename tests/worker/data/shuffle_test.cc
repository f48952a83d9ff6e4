#include "worker/data/shuffle.h"

#include <gtest/gtest.h>

#include <set>

namespace podium {
namespace {

class ShuffleOf : public testing::TestWithParam<std::int64_t> {};

TEST_P(ShuffleOf, VisitsEveryPositionOnce) {
  const Shuffle shuffle(3, 4, GetParam());
  std::set<std::int64_t> seen;
  for (std::int64_t i = 0; i < GetParam(); ++i) seen.insert(shuffle[i]);
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()), GetParam());
  EXPECT_EQ(*seen.rbegin(), GetParam() - 1);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ShuffleOf, testing::Values(1, 2, 3, 4, 5, 16, 17, 1000, 4096, 65537));

TEST(Shuffle, DiffersBySeedAndStreamAndMovesNearlyEverything) {
  const Shuffle a(1, 1, 1000);
  const Shuffle b(2, 1, 1000);
  const Shuffle c(1, 2, 1000);
  int fixed = 0;
  int same_b = 0;
  int same_c = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    fixed += a[i] == i;
    same_b += a[i] == b[i];
    same_c += a[i] == c[i];
  }
  EXPECT_LT(fixed, 10);
  EXPECT_LT(same_b, 10);
  EXPECT_LT(same_c, 10);
}

TEST(Shuffle, PositionsAreUniform) {
  // The first position over many seeds: chi-square with 9 degrees of freedom, 99.99 % below 33.7.
  std::array<int, 10> counts{};
  for (std::uint64_t seed = 0; seed < 10000; ++seed)
    ++counts[static_cast<std::size_t>(Shuffle(seed, 0, 10)[0])];
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 33.7);
}

}  // namespace
}  // namespace podium
