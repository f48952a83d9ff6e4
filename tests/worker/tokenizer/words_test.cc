#include "worker/tokenizer/words.h"

#include <gmock/gmock.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

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

std::string in_utf8(char32_t c) {
  const auto tail = [c](int shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x10000) return {static_cast<char>(0xE0 | (c >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | (c >> 18)), tail(12), tail(6), tail(0)};
}

// The ranges of tokenizers, which begins one at U+2B920 where tokenization.py has U+2B820.
TEST(Words, IdeographsStandAloneFromTheFirstToTheLastOfTheirRanges) {
  BertRules rules = BertRules::for_case(false);
  rules.clean_text = false;
  constexpr std::array<std::pair<char32_t, char32_t>, 7> kRanges{{{0x3400, 0x4DBF},
                                                                  {0x4E00, 0x9FFF},
                                                                  {0xF900, 0xFAFF},
                                                                  {0x20000, 0x2A6DF},
                                                                  {0x2A700, 0x2B81F},
                                                                  {0x2B920, 0x2CEAF},
                                                                  {0x2F800, 0x2FA1F}}};
  for (const auto& [first, last] : kRanges) {
    for (const char32_t c : {first, last})
      EXPECT_THAT(words("a" + in_utf8(c) + "b", rules), ElementsAre("a", in_utf8(c), "b"));
    for (const char32_t c : {first - 1, last + 1})
      EXPECT_THAT(words("a" + in_utf8(c) + "b", rules), ElementsAre("a" + in_utf8(c) + "b"));
  }
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
