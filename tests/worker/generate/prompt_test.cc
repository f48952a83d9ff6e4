#include "worker/generate/prompt.h"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/worker/tokenizer/byte_vocabulary.h"

namespace podium::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::int32_t> counted(int tokens) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(tokens));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

TEST(Prompt, AnEmptyTextBeginsWithTheLastTokenThatEndsOne) {
  const BpeTokenizer tokenizer(byte_vocabulary({}));
  const std::vector<std::int32_t> ends{3, 5};
  EXPECT_THAT(prompt_tokens(tokenizer, ends, ""), ElementsAre(5));
  EXPECT_THAT(prompt_tokens(tokenizer, {}, ""), IsEmpty());
  EXPECT_EQ(prompt_tokens(tokenizer, ends, "ab").size(), 2U);
}

TEST(Prompt, HasAsManyTokensBehindItAsFitUpToTheUsual) {
  std::vector<std::int32_t> prompt = counted(3);
  EXPECT_EQ(fit_prompt({.positions = 10}, prompt), 8);
  EXPECT_EQ(fit_prompt({.positions = 129}, prompt), 127);
  EXPECT_EQ(fit_prompt({.positions = 1000}, prompt), kUsualTokens);
  EXPECT_EQ(fit_prompt({.positions = 10, .max_tokens = 4}, prompt), 4);
  EXPECT_EQ(fit_prompt({.positions = 1000, .max_tokens = 500}, prompt), 500);
  EXPECT_EQ(prompt, counted(3));
}

TEST(Prompt, ThatIsTooLongDoesNotFit) {
  std::vector<std::int32_t> prompt = counted(8);
  EXPECT_EQ(fit_prompt({.positions = 10, .max_tokens = 3}, prompt), 3);
  EXPECT_EQ(fit_prompt({.positions = 10, .max_tokens = 4}, prompt), std::nullopt);
  EXPECT_EQ(longest_prompt({.positions = 10, .max_tokens = 4}), 7);
  EXPECT_EQ(fit_prompt({.positions = 8}, prompt), 1);
  EXPECT_EQ(fit_prompt({.positions = 7}, prompt), std::nullopt);
}

TEST(Prompt, KeepsItsEndWhereItIsTruncated) {
  std::vector<std::int32_t> prompt = counted(20);
  EXPECT_EQ(fit_prompt({.positions = 10, .max_tokens = 8, .truncate = true}, prompt), 8);
  EXPECT_THAT(prompt, ElementsAre(17, 18, 19));
  prompt = counted(20);
  EXPECT_EQ(fit_prompt({.positions = 10, .truncate = true}, prompt), 5) << "half of the positions";
  EXPECT_THAT(prompt, ElementsAre(14, 15, 16, 17, 18, 19));
}

}  // namespace
}  // namespace podium::test
