#include "worker/data/masking.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/worker/data/corpus_fixture.h"

namespace podium {
namespace {

std::vector<std::int32_t> sequence(const Vocabulary& vocabulary, int length) {
  std::vector<std::int32_t> ids{vocabulary.special().classify};
  for (int i = 0; i < length - 2; ++i) ids.push_back(5 + i % 100);
  ids.push_back(vocabulary.special().separator);
  return ids;
}

TEST(Masking, PredictionsFollowTheRecipe) {
  EXPECT_EQ(default_max_predictions(128), 20);
  EXPECT_EQ(default_max_predictions(512), 80);
  EXPECT_EQ(default_max_predictions(64), 10);
  EXPECT_EQ(default_max_predictions(4), 1);
}

TEST(Masking, ChoosesFifteenPercentUpToTheMost) {
  const Vocabulary vocabulary = made_up_vocabulary();
  Random random(1, 0);
  const auto count = [&](int length, std::int32_t most) {
    auto ids = sequence(vocabulary, length);
    return mask_tokens(ids, {0.15, most, false}, vocabulary, random).positions.size();
  };
  EXPECT_EQ(count(100, 20), 15u);
  EXPECT_EQ(count(128, 10), 10u);
  EXPECT_EQ(count(4, 20), 1u);
}

TEST(Masking, SharesAreEightyTenTen) {
  const Vocabulary vocabulary = made_up_vocabulary();
  int masked = 0;
  int kept = 0;
  int total = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    Random random(3, i);
    auto ids = sequence(vocabulary, 100);
    const Masked chosen = mask_tokens(ids, {0.15, 20, false}, vocabulary, random);
    for (std::size_t k = 0; k < chosen.positions.size(); ++k, ++total) {
      const std::int32_t now = ids[static_cast<std::size_t>(chosen.positions[k])];
      masked += now == vocabulary.special().mask;
      kept += now == chosen.labels[k];
    }
  }
  EXPECT_NEAR(static_cast<double>(masked) / total, 0.8, 0.01);
  EXPECT_NEAR(static_cast<double>(kept) / total, 0.1, 0.01);
}

TEST(Masking, RestoringTheLabelsRestoresTheSequence) {
  const Vocabulary vocabulary = made_up_vocabulary();
  Random random(4, 0);
  const auto original = sequence(vocabulary, 64);
  auto ids = original;
  const Masked chosen = mask_tokens(ids, {0.15, 20, false}, vocabulary, random);
  EXPECT_TRUE(std::is_sorted(chosen.positions.begin(), chosen.positions.end()));
  EXPECT_NE(ids, original);
  EXPECT_EQ(ids.front(), vocabulary.special().classify);
  EXPECT_EQ(ids.back(), vocabulary.special().separator);
  for (std::size_t k = 0; k < chosen.positions.size(); ++k)
    ids[static_cast<std::size_t>(chosen.positions[k])] = chosen.labels[k];
  EXPECT_EQ(ids, original);
}

TEST(Masking, WholeWordsAreChosenTogether) {
  const Vocabulary vocabulary = made_up_vocabulary();
  const std::int32_t piece = *vocabulary.find("##p3");
  std::vector<std::int32_t> original{vocabulary.special().classify};
  for (int i = 0; i < 20; ++i) original.insert(original.end(), {5 + i, piece, piece});
  for (std::uint64_t i = 0; i < 100; ++i) {
    Random random(8, i);
    auto ids = original;
    const Masked chosen = mask_tokens(ids, {0.15, 20, true}, vocabulary, random);
    ASSERT_EQ(chosen.positions.size(), 9u);
    for (std::size_t k = 0; k < chosen.positions.size(); k += 3) {
      EXPECT_EQ(chosen.positions[k] % 3, 1) << "a word's first piece";
      EXPECT_EQ(chosen.positions[k + 2], chosen.positions[k] + 2);
    }
  }
}

}  // namespace
}  // namespace podium
