#include "worker/tokenizer/vocabulary_builder.h"

#include <gmock/gmock.h>

#include "worker/input/bad_data.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

std::vector<std::string> build(const std::vector<std::string>& lines, std::int32_t size) {
  VocabularyBuilder builder(true);
  for (const std::string& line : lines) builder.add_text(line);
  return builder.build(size);
}

TEST(VocabularyBuilder, MergesTheMostFrequentPairFirst) {
  // "##ug" occurs 4 times, "##un" 2 times, then "hug" 3 times.
  const auto tokens = build({"hug hug hug pug", "pun bun"}, 1000);
  const std::vector<std::string> merges(tokens.begin() + 5 + 2 * 6, tokens.end());
  EXPECT_THAT(merges, ElementsAre("##ug", "hug", "##un", "bun", "pug", "pun"));
}

TEST(VocabularyBuilder, StartsWithTheSpecialTokensAndEveryCharacter) {
  const auto tokens = build({"ba é"}, 14);
  EXPECT_THAT(tokens, ElementsAre("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "e", "##a", "##b",
                                  "##e", "ba"));
}

TEST(VocabularyBuilder, DoesNotDependOnTheOrderOfTheText) {
  EXPECT_EQ(build({"the cat sat on the mat", "a cat"}, 60), build({"a cat", "on the mat the cat sat"}, 60));
}

// Tokenizers read it as [UNK].
TEST(VocabularyBuilder, LeavesOutWordsOfMoreThanAHundredCharacters) {
  EXPECT_EQ(build({"the " + std::string(101, 'x')}, 60), build({"the"}, 60));
  std::string accents;
  for (int i = 0; i < 100; ++i) accents += "ж";
  EXPECT_THAT(build({"the " + accents}, 1000), Contains(accents));
}

TEST(VocabularyBuilder, KeepsToTheSize) {
  EXPECT_EQ(build({"the cat sat on the mat and the dog sat on the cat"}, 32).size(), 32u);
}

TEST(VocabularyBuilder, EncodesItsOwnTextWithoutUnknowns) {
  const std::string text =
      "in the beginning god created the heaven and the earth; and the earth was without form";
  const WordPieceTokenizer tokenizer(Vocabulary(build({text}, 70), "built"), true);
  std::vector<std::int32_t> ids;
  tokenizer.encode(text, ids);
  EXPECT_THAT(ids, Not(Contains(tokenizer.vocabulary().special().unknown)));
}

TEST(VocabularyBuilder, RepeatedCharactersMergeWithoutOverlap) {
  const auto tokens = build({"aaaaa"}, 1000);
  EXPECT_THAT(tokens, Contains("aaaaa"));
}

TEST(VocabularyBuilder, RefusesASizeThatCannotHoldTheCharacters) {
  EXPECT_THROW(build({"abcdef"}, 16), BadData);
  EXPECT_THROW(build({" "}, 100), BadData);
}

}  // namespace
}  // namespace podium
