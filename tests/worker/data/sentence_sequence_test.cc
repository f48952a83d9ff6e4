#include "worker/data/sentence_sequence.h"

#include <gmock/gmock.h>

namespace podium {
namespace {

using testing::ElementsAre;

constexpr SpecialTokens kSpecial{.pad = 0, .unknown = 1, .classify = 2, .separator = 3, .mask = 4};

std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>> sequence_of(const SentenceTokens& sentences,
                                                                            int most) {
  std::vector<std::int32_t> ids, types;
  append_sequence(sentences, most, kSpecial, ids, types);
  return {ids, types};
}

TEST(SentenceSequence, OfASentenceHasOneSeparatorAndType) {
  const SentenceTokens sentence{.first = {10, 11, 12}};
  EXPECT_EQ(sentence.length(), 5);
  const auto [ids, types] = sequence_of(sentence, 9);
  EXPECT_THAT(ids, ElementsAre(2, 10, 11, 12, 3));
  EXPECT_THAT(types, ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(sequence_of(sentence, 4).first, ElementsAre(2, 10, 11, 3));
}

TEST(SentenceSequence, OfAPairHasTwoSeparatorsAndTypes) {
  const SentenceTokens pair{.first = {10, 11, 12}, .second = {20}, .is_pair = true};
  EXPECT_EQ(pair.length(), 7);
  const auto [ids, types] = sequence_of(pair, 9);
  EXPECT_THAT(ids, ElementsAre(2, 10, 11, 12, 3, 20, 3));
  EXPECT_THAT(types, ElementsAre(0, 0, 0, 0, 0, 1, 1));
  const auto [cut, cut_types] = sequence_of(pair, 6);
  EXPECT_THAT(cut, ElementsAre(2, 10, 11, 3, 20, 3));
  EXPECT_THAT(cut_types, ElementsAre(0, 0, 0, 0, 1, 1));
}

}  // namespace
}  // namespace podium
