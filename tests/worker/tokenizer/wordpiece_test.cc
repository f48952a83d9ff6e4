#include "worker/tokenizer/wordpiece.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/worker/tokenizer/vectors.h"
#include "worker/input/bad_data.h"
#include "worker/input/utf8.h"
#include "worker/tensor/random.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

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

using Offsets = std::vector<std::vector<std::int32_t>>;

TEST(WordPiece, OffsetsCountCharactersOfTheText) {
  const std::string accented =
      "  U\u0301N\u00ADwante\u0301d\u3000a";  // an accent, a soft hyphen, a wide space
  EXPECT_EQ(encode(toy(), accented), (std::vector<std::int32_t>{5, 6, 7, 8}));
  EXPECT_EQ(offsets(toy(), accented), (Offsets{{2, 5}, {6, 10}, {10, 13}, {14, 15}}));
  EXPECT_EQ(offsets(toy(), "\u535a[MASK]\u00e9x a"), (Offsets{{0, 1}, {1, 7}, {7, 9}, {10, 11}}));
  EXPECT_EQ(offsets(toy(), ""), Offsets{});
}

TEST(WordPiece, AnUnknownWordHasOneOffset) {
  EXPECT_EQ(offsets(toy(), "a unwantedX"), (Offsets{{0, 1}, {2, 11}}));
  EXPECT_EQ(offsets(toy(), "a " + std::string(101, 'a')), (Offsets{{0, 1}, {2, 103}}));
}

// Whatever the text is, tokens stand in its order and never overlap but within one character.
TEST(WordPiece, OffsetsAreInOrderWhateverTheText) {
  Random random(11, 0);
  const WordPieceTokenizer tokenizer = toy();
  for (int round = 0; round < 500; ++round) {
    std::string text;
    std::int32_t characters = 0;
    for (std::uint32_t i = 0, size = random.below(60); i < size; ++i) {
      const auto c = static_cast<UChar32>(random.below(round % 3 ? 0x500 : 0x110000));
      if (c >= 0xD800 && c <= 0xDFFF) continue;
      append_utf8(c, text);
      ++characters;
    }
    std::int32_t last = 0;
    for (const auto& range : offsets(tokenizer, text)) {
      ASSERT_LE(last, range[0]) << text;
      ASSERT_LT(range[0], range[1]) << text;
      last = range[1];
    }
    ASSERT_LE(last, characters) << text;
  }
}

TEST(WordPiece, ABadVocabularyIsRefused) {
  EXPECT_THROW(Vocabulary({"[PAD]", "[UNK]", "[CLS]", "[SEP]"}, "v.txt"), BadData);
  try {
    Vocabulary({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "x", "x"}, "v.txt");
    FAIL() << "a token twice";
  } catch (const BadData& error) {
    EXPECT_THAT(error.what(), HasSubstr("v.txt:7"));
  }
  EXPECT_THAT([] { Vocabulary({}, "v.txt"); },
              testing::ThrowsMessage<BadData>(HasSubstr("v.txt: the vocabulary is empty")));
  EXPECT_THAT(
      [] {
        Vocabulary({"[PAD]", "a\xFF"}, "v.txt");
      },
      testing::ThrowsMessage<BadData>(HasSubstr("v.txt:2: byte 2 of the line is not UTF-8")));
  EXPECT_THROW(Vocabulary::load("/nonexistent/vocab.txt"), BadData);
}

WordPieceTokenizer published(const std::string& model, bool lowercase) {
  return {Vocabulary::load(*shared_data("vocab/" + model + "-vocab.txt")), lowercase};
}

void check_model(const std::string& model, bool lowercase) {
  const auto vectors = shared_data("tokenizer_vectors/" + model + ".jsonl.zst");
  if (!vectors) GTEST_SKIP() << "skipped: no shared data";
  check_vectors(published(model, lowercase), *vectors);
}

TEST(WordPiece, MatchesBertBaseUncased) { check_model("bert-base-uncased", true); }
TEST(WordPiece, MatchesBertBaseCased) { check_model("bert-base-cased", false); }

struct PairEncoding {
  std::vector<std::int32_t> ids, types;
  std::vector<CharacterRange> offsets;  // in the text that the token is of; [0, 0) of [CLS] and [SEP]
};

// Two texts as BERT reads them: "[CLS] first [SEP] second [SEP]".
PairEncoding encode_pair(const WordPieceTokenizer& tokenizer, std::string_view first,
                         std::string_view second) {
  const SpecialTokens& special = tokenizer.vocabulary().special();
  PairEncoding pair{.ids = {special.classify}, .offsets = {{}}};
  const auto add = [&](std::string_view text, std::int32_t type) {
    tokenizer.encode(text, {pair.ids, &pair.offsets});
    pair.ids.push_back(special.separator);
    pair.offsets.emplace_back();
    pair.types.resize(pair.ids.size(), type);
  };
  add(first, 0);
  add(second, 1);
  return pair;
}

TEST(WordPiece, MatchesSquadPairs) {
  const auto vectors = shared_data("tokenizer_vectors/squad_pairs_bert-base-uncased.jsonl.zst");
  if (!vectors) GTEST_SKIP() << "skipped: no shared data";
  const WordPieceTokenizer tokenizer = published("bert-base-uncased", true);
  std::istringstream lines(read_zstd(*vectors));
  int checked = 0;
  for (std::string line; std::getline(lines, line); ++checked) {
    const json vector = json::parse(line);
    const PairEncoding pair = encode_pair(tokenizer, vector.at("question").get<std::string>(),
                                          vector.at("context").get<std::string>());
    EXPECT_EQ(json(pair.ids), vector.at("ids"));
    EXPECT_EQ(json(pair.types), vector.at("type_ids"));
    EXPECT_EQ(json(offsets_of(pair.offsets)), vector.at("offsets"));
  }
  EXPECT_GT(checked, 10);
}

TEST(WordPiece, MatchesLlamaCppsBertTexts) {
  if (!shared_data("vocab/bert-base-uncased-vocab.txt")) GTEST_SKIP() << "skipped: no shared data";
  check_llama_cpp(published("bert-base-uncased", true), "ggml-vocab-bert-bge.gguf");
}

TEST(WordPiece, MatchesUpstreamsOffsets) {
  const auto path = shared_data("tokenizer_vectors/upstream_unit_vectors.json");
  if (!path) GTEST_SKIP() << "skipped: no shared data";
  const WordPieceTokenizer tokenizer = published("bert-base-uncased", true);
  const json cases = json::parse(read_file(*path)).at("bert_base_uncased_offsets");
  ASSERT_FALSE(cases.empty());
  for (const json& vector : cases) {
    json expected = vector.at("offsets");
    expected.erase(expected.begin());  // of [CLS] and [SEP], which encode() does not add
    expected.erase(expected.end() - 1);
    EXPECT_EQ(json(offsets(tokenizer, vector.at("text").get<std::string>())), expected);
  }
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
