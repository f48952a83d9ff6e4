#include <gmock/gmock.h>

#include <random>
#include <stdexcept>

#include "worker/serve/bert_passes.h"

namespace podium {
namespace {

using Groups = std::vector<std::vector<std::size_t>>;

TEST(GroupsByLength, PutsLikeToLike) {
  EXPECT_EQ(groups_by_length({}), Groups{});
  EXPECT_EQ(groups_by_length(std::vector{8, 100, 10, 99}), (Groups{{1, 3}, {2, 0}}));
  EXPECT_EQ(groups_by_length(std::vector{100, 50}), (Groups{{0, 1}})) << "a fourth is padding";
  EXPECT_EQ(groups_by_length(std::vector{100, 49}), (Groups{{0}, {1}}));
}

TEST(GroupsByLength, HasPowersOfTwo) {
  const std::vector<int> equal(13, 20);
  std::vector<std::size_t> sizes;
  for (const auto& group : groups_by_length(equal)) sizes.push_back(group.size());
  EXPECT_THAT(sizes, testing::ElementsAre(8, 4, 1));
}

TEST(GroupsByLength, HasEveryPlaceOnceAndAFourthOfPaddingAtMost) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<int> lengths(1 + random() % 60);
    for (int& length : lengths) length = static_cast<int>(1 + random() % 512);
    std::vector<int> seen(lengths.size());
    for (const auto& group : groups_by_length(lengths)) {
      std::int64_t tokens = 0, longest = 0;
      for (const std::size_t place : group) {
        ++seen[place];
        tokens += lengths[place];
        longest = std::max<std::int64_t>(longest, lengths[place]);
      }
      const std::int64_t padded = longest * std::ssize(group);
      EXPECT_LE((padded - tokens) * 4, padded);
    }
    EXPECT_THAT(seen, testing::Each(1));
  }
}

TEST(ResultsOrFailures, AGroupThatCannotBeComputedHasFailedWhole) {
  const auto some = results_or_failures(2, [] {
    return std::vector<SequenceResult>{{.scores = {1}}, {.scores = {2}}};
  });
  ASSERT_EQ(some.size(), 2U);
  EXPECT_EQ(some[1].scores, std::vector<float>{2});
  EXPECT_FALSE(some[0].failed || some[1].failed);
  const auto none =
      results_or_failures(3, []() -> std::vector<SequenceResult> { throw std::runtime_error("made up"); });
  ASSERT_EQ(none.size(), 3U);
  for (const SequenceResult& result : none) EXPECT_TRUE(result.failed);
}

}  // namespace
}  // namespace podium
