#include "worker/tokenizer/wordpiece.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/worker/shared_data.h"
#include "worker/input/bad_data.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<std::int32_t> encode(const WordPieceTokenizer& tokenizer, std::string_view text) {
  std::vector<std::int32_t> ids;
  tokenizer.encode(text, ids);
  return ids;
}

WordPieceTokenizer toy() {
  return {Vocabulary({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##want", "##ed", "a"}, "toy"),
          true};
}

TEST(WordPiece, TakesTheLongestMatchFirst) {
  EXPECT_EQ(encode(toy(), "UNwanted"), (std::vector<std::int32_t>{5, 6, 7}));
}

TEST(WordPiece, AWordWithoutAMatchIsUnknownAsAWhole) {
  EXPECT_EQ(encode(toy(), "unwantedX un"), (std::vector<std::int32_t>{1, 5}));
}

TEST(WordPiece, AWordOver100CharactersIsUnknown) {
  std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##a"};
  const WordPieceTokenizer tokenizer(Vocabulary(tokens, "toy"), true);
  EXPECT_EQ(encode(tokenizer, std::string(100, 'a')).size(), 100u);
  EXPECT_EQ(encode(tokenizer, std::string(101, 'a')), std::vector<std::int32_t>{1});
}

TEST(WordPiece, SpecialTokensInTheTextAreKept) {
  EXPECT_EQ(encode(toy(), "a[MASK]un[SEP]"), (std::vector<std::int32_t>{8, 4, 5, 3}));
}

TEST(WordPiece, ABadVocabularyIsRefused) {
  EXPECT_THROW(Vocabulary({"[PAD]", "[UNK]", "[CLS]", "[SEP]"}, "v.txt"), BadData);
  try {
    Vocabulary({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "x", "x"}, "v.txt");
    FAIL() << "a token twice";
  } catch (const BadData& error) {
    EXPECT_THAT(error.what(), HasSubstr("v.txt:7"));
  }
  EXPECT_THROW(Vocabulary::load("/nonexistent/vocab.txt"), BadData);
}

// Vectors come from the reference implementation over the published vocabularies.
void check_vectors(const std::string& model, bool lowercase) {
  const auto vocabulary = shared_data("vocab/" + model + "-vocab.txt");
  const auto vectors = shared_data("tokenizer_vectors/" + model + ".jsonl.zst");
  if (!vocabulary || !vectors) GTEST_SKIP() << "skipped: no shared data";
  const WordPieceTokenizer tokenizer(Vocabulary::load(*vocabulary), lowercase);
  std::istringstream lines(read_zstd(*vectors));
  int checked = 0;
  int wrong = 0;
  for (std::string line; std::getline(lines, line); ++checked) {
    const json vector = json::parse(line);
    const auto text = vector.at("text").get<std::string>();
    const auto expected = vector.at("ids").get<std::vector<std::int32_t>>();
    if (encode(tokenizer, text) == expected) continue;
    if (++wrong <= 5) ADD_FAILURE() << "vector " << vector.at("id") << ": " << vector.at("text");
  }
  EXPECT_EQ(wrong, 0) << "of " << checked;
  EXPECT_GT(checked, 500);
}

TEST(WordPiece, MatchesBertBaseUncased) { check_vectors("bert-base-uncased", true); }
TEST(WordPiece, MatchesBertBaseCased) { check_vectors("bert-base-cased", false); }

TEST(WordPiece, MatchesSquadPairs) {
  const auto vocabulary = shared_data("vocab/bert-base-uncased-vocab.txt");
  const auto vectors = shared_data("tokenizer_vectors/squad_pairs_bert-base-uncased.jsonl.zst");
  if (!vocabulary || !vectors) GTEST_SKIP() << "skipped: no shared data";
  const WordPieceTokenizer tokenizer(Vocabulary::load(*vocabulary), true);
  std::istringstream lines(read_zstd(*vectors));
  int checked = 0;
  for (std::string line; std::getline(lines, line); ++checked) {
    const json vector = json::parse(line);
    std::vector<std::int32_t> ids{tokenizer.vocabulary().special().classify};
    for (const char* part : {"question", "context"}) {
      tokenizer.encode(vector.at(part).get<std::string>(), ids);
      ids.push_back(tokenizer.vocabulary().special().separator);
    }
    EXPECT_EQ(ids, vector.at("ids").get<std::vector<std::int32_t>>());
  }
  EXPECT_GT(checked, 10);
}

TEST(WordPiece, MatchesUpstreamsToyVocabularies) {
  const auto path = shared_data("tokenizer_vectors/upstream_unit_vectors.json");
  if (!path) GTEST_SKIP() << "skipped: no shared data";
  const json vectors = json::parse(read_file(*path));
  ASSERT_GE(vectors.at("wordpiece_toy").size(), 5u);
  for (const auto& vector : vectors.at("wordpiece_toy")) {
    auto tokens = vector.at("vocab").get<std::vector<std::string>>();
    for (const char* special : {"[PAD]", "[MASK]"})
      if (std::find(tokens.begin(), tokens.end(), special) == tokens.end()) tokens.emplace_back(special);
    const WordPieceTokenizer tokenizer(Vocabulary(tokens, "toy"), vector.value("lower", false));
    std::vector<std::string> found;
    for (const std::int32_t id : encode(tokenizer, vector.at("text").get<std::string>()))
      found.push_back(tokenizer.vocabulary().token(id));
    EXPECT_EQ(found, vector.at("tokens").get<std::vector<std::string>>());
  }
}

}  // namespace
}  // namespace podium
