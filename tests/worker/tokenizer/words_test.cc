#include "worker/tokenizer/words.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/worker/shared_data.h"

namespace podium {
namespace {

using testing::ElementsAre;

std::vector<std::string> words(std::string_view text, const BertRules& rules) {
  NormalizedText normalized;
  BertNormalizer(rules).normalize(text, std::nullopt, normalized);
  std::vector<std::string> found;
  for_each_word(normalized.text, [&](std::size_t begin, std::size_t end) {
    found.push_back(normalized.text.substr(begin, end - begin));
  });
  return found;
}

std::vector<std::string> words(std::string_view text, bool lowercase) {
  return words(text, BertRules::for_case(lowercase));
}

TEST(Words, SplitsAtSpaceAndAroundPunctuation) {
  EXPECT_THAT(words(" \tHeLLo!how  \n Are yoU?  ", true),
              ElementsAre("hello", "!", "how", "are", "you", "?"));
  EXPECT_THAT(words("$1,000-[x]", false), ElementsAre("$", "1", ",", "000", "-", "[", "x", "]"));
}

TEST(Words, DropsAccentsOnlyWhenUncased) {
  EXPECT_THAT(words("Héllo Ünïcode", true), ElementsAre("hello", "unicode"));
  EXPECT_THAT(words("Héllo", false), ElementsAre("Héllo"));
}

TEST(Words, LowersEachCharacterAlone) { EXPECT_THAT(words("ΟΔΟΣ İ", true), ElementsAre("οδοσ", "i")); }

TEST(Words, LowersADottedCapitalIToTwoCharactersWhereAccentsStay) {
  NormalizedText normalized;
  BertNormalizer({.strip_accents = false}).normalize("İX", 0, normalized);
  EXPECT_EQ(normalized.text, "i\u0307x");
  EXPECT_THAT(normalized.places, ElementsAre(0, 0, 0, 1));
}

TEST(Words, LeavesControlCharactersAndSpacesThatNobodyCleans) {
  NormalizedText normalized;
  BertNormalizer({.clean_text = false}).normalize("a\x01\tB\u00a0", std::nullopt, normalized);
  EXPECT_EQ(normalized.text, "a\x01\tb\u00a0");
}

// The reference implementation's tables are of Unicode 8.
TEST(Words, CharactersYoungerThanTheReferencesTablesArePartOfAWord) {
  EXPECT_THAT(words("a\u2E3Ab", true), ElementsAre("a", "\u2E3A", "b")) << "a dash of Unicode 6.1";
  EXPECT_THAT(words("a\u2E43b", true), ElementsAre("a\u2E43b")) << "a dash of Unicode 9";
  EXPECT_THAT(words("a\u1DC0b", true), ElementsAre("ab")) << "an accent of Unicode 4.1";
  EXPECT_THAT(words("a\u1DF6b", true), ElementsAre("a\u1DF6b")) << "an accent of Unicode 10";
  EXPECT_THAT(words("a\u0605b", true), ElementsAre("ab")) << "a format character of Unicode 7";
  EXPECT_THAT(words("a\u08E2b", true), ElementsAre("a\u08E2b")) << "a format character of Unicode 9";
  EXPECT_THAT(words("a\u0378b", true), ElementsAre("a\u0378b")) << "unassigned";
}

TEST(Words, IsolatesCjkCharacters) {
  EXPECT_THAT(words("ah博推zz", false), ElementsAre("ah", "博", "推", "zz"));
}

TEST(Words, DropsControlAndReplacementCharacters) {
  EXPECT_THAT(words(std::string("a\0b\x05 c\xEF\xBF\xBD", 8), false), ElementsAre("ab", "c"));
}

TEST(Words, AgreesWithUpstreamsUnitVectors) {
  const auto path = shared_data("tokenizer_vectors/upstream_unit_vectors.json");
  if (!path) GTEST_SKIP() << "skipped: no shared data";
  const auto vectors = nlohmann::json::parse(read_file(*path));
  int checked = 0;
  for (const auto& vector : vectors.at("basic_tokenizer")) {
    if (vector.contains("never_split")) continue;  // that is what added tokens are for
    BertRules rules = BertRules::for_case(vector.at("lower"));
    rules.strip_accents = vector.value("strip_accents", rules.strip_accents);
    EXPECT_EQ(words(vector.at("text").get<std::string>(), rules),
              vector.at("tokens").get<std::vector<std::string>>());
    ++checked;
  }
  EXPECT_GE(checked, 10);
}

}  // namespace
}  // namespace podium
