#include "worker/tokenizer/words.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/worker/shared_data.h"

namespace podium {
namespace {

using testing::ElementsAre;

std::vector<std::string> words(std::string_view text, bool lowercase) {
  std::vector<std::string> found;
  split_words(text, lowercase, [&](std::string_view word, int) { found.emplace_back(word); });
  return found;
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

TEST(Words, IsolatesCjkCharacters) {
  EXPECT_THAT(words("ah博推zz", false), ElementsAre("ah", "博", "推", "zz"));
}

TEST(Words, DropsControlAndReplacementCharacters) {
  EXPECT_THAT(words(std::string("a\0b\x05 c\xEF\xBF\xBD", 8), false), ElementsAre("ab", "c"));
}

TEST(Words, CountsCharactersNotBytes) {
  int characters = 0;
  split_words("naïve", false, [&](std::string_view, int count) { characters = count; });
  EXPECT_EQ(characters, 5);
}

TEST(Words, AgreesWithUpstreamsUnitVectors) {
  const auto path = shared_data("tokenizer_vectors/upstream_unit_vectors.json");
  if (!path) GTEST_SKIP() << "skipped: no shared data";
  const auto vectors = nlohmann::json::parse(read_file(*path));
  int checked = 0;
  for (const auto& vector : vectors.at("basic_tokenizer")) {
    const bool lower = vector.at("lower");
    const bool strips_as_lower = !vector.contains("strip_accents") || vector.at("strip_accents") == lower;
    if (!strips_as_lower || vector.contains("never_split")) continue;
    EXPECT_EQ(words(vector.at("text").get<std::string>(), lower),
              vector.at("tokens").get<std::vector<std::string>>());
    ++checked;
  }
  EXPECT_GE(checked, 6);
}

}  // namespace
}  // namespace podium
