#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/worker/shared_data.h"
#include "tests/worker/tokenizer/byte_vocabulary.h"
#include "worker/input/bad_data.h"
#include "worker/tensor/random.h"
#include "worker/tokenizer/bpe_encoder.h"
#include "worker/tokenizer/bpe_words.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<std::int32_t> encode(BpeEncoder& encoder, std::string_view text) {
  std::vector<std::int32_t> ids;
  encoder.encode(text, ids);
  return ids;
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty()) {
    found.emplace_back(text.substr(0, first_bpe_word(text)));
    text.remove_prefix(found.back().size());
  }
  return found;
}

TEST(BpeWords, FollowTheRule) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words("I'll say 'twas 3rd!?"), (Words{"I", "'ll", " say", " '", "twas", " 3", "rd", "!?"}));
  EXPECT_EQ(words("  two\t\tspaces  "), (Words{" ", " two", "\t", "\t", "spaces", "  "}));
  EXPECT_EQ(words("\n \n x"), (Words{"\n \n", " x"}));
  EXPECT_EQ(words("\u00a0\u2003é²½"), (Words{"\u00a0", "\u2003", "é", "²½"}));
  EXPECT_EQ(words("don'T\u3000"), (Words{"don", "'", "T", "\u3000"}));
}

TEST(Bpe, MergesTheLowestRankFirstAndLeftToRight) {
  const BpeVocabulary vocabulary = byte_vocabulary({"a a", "aa a", "b a"});
  BpeEncoder encoder(vocabulary);
  const auto tokens = [&](std::string_view text) {
    std::vector<std::string> found;
    for (const std::int32_t id : encode(encoder, text)) found.push_back(vocabulary.token(id));
    return found;
  };
  EXPECT_EQ(tokens("aaaaa"), (std::vector<std::string>{"aa", "aaa"}));
  EXPECT_EQ(tokens("baa"), (std::vector<std::string>{"b", "aa"}));
  EXPECT_EQ(tokens("ba"), (std::vector<std::string>{"ba"}));
}

// Merges as the definition says it: the whole word again for every merge.
std::vector<std::int32_t> merge_plainly(const BpeVocabulary& vocabulary, std::string_view word) {
  std::vector<std::int32_t> pieces;
  for (const char byte : word) pieces.push_back(vocabulary.byte_token(byte));
  for (;;) {
    const BpeMerge* best = nullptr;
    std::pair<std::int32_t, std::int32_t> pair;
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
      const BpeMerge* merge = vocabulary.find_merge(pieces[i], pieces[i + 1]);
      if (!merge || (best && best->rank <= merge->rank)) continue;
      best = merge;
      pair = {pieces[i], pieces[i + 1]};
    }
    if (!best) return pieces;
    std::vector<std::int32_t> merged;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const bool match = i + 1 < pieces.size() && std::pair{pieces[i], pieces[i + 1]} == pair;
      merged.push_back(match ? best->token : pieces[i]);
      if (match) ++i;
    }
    pieces = std::move(merged);
  }
}

TEST(Bpe, LongWordsMergeAsTheDefinitionSays) {
  // Ranks out of order on purpose: "ab" is also what a later merge makes.
  const BpeVocabulary vocabulary = byte_vocabulary({"ab a", "a b", "b a", "ab ab", "ba b", "aba b", "b b"});
  BpeEncoder encoder(vocabulary);
  Random random(3, 0);
  for (int round = 0; round < 300; ++round) {
    std::string word;
    for (std::uint32_t i = 0, size = 1 + random.below(round < 290 ? 40 : 2000); i < size; ++i)
      word += random.below(5) == 0 ? 'b' : "ab"[random.below(2)];
    ASSERT_EQ(encode(encoder, word), merge_plainly(vocabulary, word)) << word;
  }
}

TEST(Bpe, EndOfTextWrittenOutBecomesItsToken) {
  const BpeVocabulary vocabulary = byte_vocabulary({});
  BpeEncoder encoder(vocabulary);
  const std::int32_t end = vocabulary.end_of_text();
  EXPECT_EQ(encode(encoder, "<|endoftext|>a<|endoftext|>"),
            (std::vector<std::int32_t>{end, vocabulary.byte_token('a'), end}));
  EXPECT_EQ(encode(encoder, "<|endoftext|").size(), 12u);
}

TEST(Bpe, BadFilesAreRefusedWithTheirPlace) {
  const auto message = [](const json& ids, const std::string& merges) -> std::string {
    try {
      BpeVocabulary(ids.dump(), "v.json", merges, "m.txt");
    } catch (const BadData& error) {
      return error.what();
    }
    return "accepted";
  };
  const json good = byte_ids({"a a"});
  EXPECT_EQ(message(good, "#version: 0.2\na a\n"), "accepted");
  EXPECT_THAT(message(good, "#version: 0.2\na a\nb b\n"),
              HasSubstr("m.txt:3: the vocabulary lacks the token \"bb\""));
  EXPECT_THAT(message(good, "a a\na a\n"), HasSubstr("m.txt:2: the merge \"a a\" appears a second time"));
  for (const char* line : {"aa", "a a a", " a", "a ", ""})
    EXPECT_THAT(message(good, std::string(line) + "\na a\n"), HasSubstr("m.txt:1: a merge is two tokens"))
        << line;

  const auto with = [&](const std::string& token, const json& id) {
    json changed = good;
    changed[token] = id;
    return message(changed, "");
  };
  EXPECT_THAT(with("new", 3), HasSubstr("share id 3"));
  EXPECT_THAT(with("new", 1000), HasSubstr("ids must count from 0 without a gap"));
  for (const json& id : {json(-1), json(1.5), json("1"), json(nullptr), json::array(),
                         json::object({{"a", 1}}), json(std::uint64_t{1} << 40)})
    EXPECT_THAT(with("new", id), HasSubstr("the id of token \"new\"")) << id;
  json lacking = good;
  lacking.erase("Ā");
  EXPECT_THAT(message(lacking, ""), HasSubstr("ids must count from 0"));
  EXPECT_THAT(message(json::object({{std::string(kEndOfText), 0}}), ""), HasSubstr("lacks the token Ā"));
  EXPECT_THAT(message(json::object({{"a", 0}}), ""), HasSubstr("lacks the token <|endoftext|>"));
  EXPECT_THAT(message(json::array({1, 2}), ""), HasSubstr("v.json: the vocabulary must be one JSON object"));
  EXPECT_THAT(message(json(7), ""), HasSubstr("v.json: the vocabulary must be one JSON object"));
  const auto parse = [](const std::string& text) { BpeVocabulary(text, "v.json", "", "m.txt"); };
  EXPECT_THAT([&] { parse("{\"a\": 1,\n \"a\": 2}"); },
              testing::ThrowsMessage<BadData>(HasSubstr("v.json: the token \"a\" appears a second time")));
  EXPECT_THAT([&] { parse("{\"a\": 1,\n oops}"); }, testing::ThrowsMessage<BadData>(HasSubstr("line 2")));
  EXPECT_THROW(BpeVocabulary::load("/nonexistent/vocab.json", "/nonexistent/merges.txt"), BadData);
}

TEST(Bpe, BrokenFilesAreRefusedOrStillRoundTrip) {
  const std::string vocab = byte_ids({"a b", "ab c", "Ġ a"}).dump();
  const std::string merges = "#version: 0.2\na b\nab c\nĠ a\n";
  Random random(17, 0);
  const auto broken = [&](std::string text) {
    for (std::uint32_t i = 0, changes = 1 + random.below(3); i < changes; ++i) {
      const std::size_t at = random.below(static_cast<std::uint32_t>(text.size()));
      const char byte =
          random.below(2) ? "{}[]:,\" \n019ab-"[random.below(15)] : static_cast<char>(random.below(256));
      if (random.below(3) == 0) {
        text.erase(at, 1 + random.below(20));
      } else {
        text[at] = byte;
      }
      if (text.empty()) break;
    }
    return text;
  };
  int accepted = 0;
  for (int round = 0; round < 2000; ++round) {
    try {
      const bool json_breaks = round % 2 == 0;
      const BpeVocabulary vocabulary(json_breaks ? broken(vocab) : vocab, "v.json",
                                     json_breaks ? merges : broken(merges), "m.txt");
      BpeEncoder encoder(vocabulary);
      const std::string text = "abc ab a\n\u00e9c";
      EXPECT_EQ(vocabulary.decode(encode(encoder, text)), text) << round;
      ++accepted;
    } catch (const BadData&) {
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 1000);
}

BpeVocabulary published(const std::string& model) {
  return BpeVocabulary::load(*shared_data("vocab/" + model + "-vocab.json"),
                             *shared_data("vocab/" + model + "-merges.txt"));
}

// Vectors come from the reference implementations over the published vocabularies.
void check_vectors(const std::string& model) {
  const auto vectors = shared_data("tokenizer_vectors/" + model + ".jsonl.zst");
  if (!vectors) GTEST_SKIP() << "skipped: no shared data";
  const BpeVocabulary vocabulary = published(model);
  BpeEncoder encoder(vocabulary);
  std::istringstream lines(read_zstd(*vectors));
  int checked = 0;
  int wrong = 0;
  for (std::string line; std::getline(lines, line); ++checked) {
    const json vector = json::parse(line);
    const auto text = vector.at("text").get<std::string>();
    const auto ids = encode(encoder, text);
    if (ids == vector.at("ids").get<std::vector<std::int32_t>>() && vocabulary.decode(ids) == text) continue;
    if (++wrong <= 5) ADD_FAILURE() << "vector " << vector.at("id") << ": " << vector.at("text");
  }
  EXPECT_EQ(wrong, 0) << "of " << checked;
  EXPECT_GT(checked, 500);
}

TEST(Bpe, MatchesGpt2) { check_vectors("gpt2"); }
TEST(Bpe, MatchesGpt2Tiny) { check_vectors("gpt2-tiny"); }

TEST(Bpe, MatchesLlamaCppsGpt2Texts) {
  const auto texts = shared_data("tokenizer_vectors/llama_cpp/ggml-vocab-gpt-2.gguf.inp");
  const auto expected = shared_data("tokenizer_vectors/llama_cpp/ggml-vocab-gpt-2.gguf.out");
  if (!texts || !expected) GTEST_SKIP() << "skipped: no shared data";
  const BpeVocabulary vocabulary = published("gpt2");
  BpeEncoder encoder(vocabulary);
  const std::string separator = "\n__ggml_vocab_test__\n";
  std::string rest = read_file(*texts);
  std::istringstream lines(read_file(*expected));
  int checked = 0;
  for (std::string line; std::getline(lines, line); ++checked) {
    const std::size_t end = rest.find(separator);
    const std::string text = rest.substr(0, end);
    rest.erase(0, end == std::string::npos ? rest.size() : end + separator.size());
    std::istringstream numbers(line);
    EXPECT_EQ(encode(encoder, text),
              std::vector<std::int32_t>(std::istream_iterator<std::int32_t>(numbers), {}))
        << text;
  }
  EXPECT_GT(checked, 40);
}

TEST(Bpe, MatchesUpstreamsUnitTests) {
  const auto path = shared_data("tokenizer_vectors/upstream_unit_vectors.json");
  if (!path) GTEST_SKIP() << "skipped: no shared data";
  const json vectors = json::parse(read_file(*path));
  const BpeVocabulary vocabulary = published("gpt2");
  BpeEncoder encoder(vocabulary);
  ASSERT_GE(vectors.at("gpt2_real").size(), 10u);
  for (const json& vector : vectors.at("gpt2_real"))
    EXPECT_EQ(encode(encoder, vector.at("text").get<std::string>()),
              vector.at("ids").get<std::vector<std::int32_t>>());
}

void append_utf8(char32_t c, std::string& text) {
  const auto byte = [&](char32_t value) { text += static_cast<char>(value); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) {
    byte(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      byte(0xE0 | c >> 12);
    } else {
      byte(0xF0 | c >> 18);
      byte(0x80 | (c >> 12 & 0x3F));
    }
    byte(0x80 | (c >> 6 & 0x3F));
  }
  byte(0x80 | (c & 0x3F));
}

TEST(Bpe, EveryCharacterSurvivesTheRoundTrip) {
  const BpeVocabulary vocabulary = byte_vocabulary({"Ġ a", "a b"});
  BpeEncoder encoder(vocabulary);
  Random random(5, 0);
  for (int round = 0; round < 200; ++round) {
    std::u32string characters;
    for (int i = 0; i < 200; ++i) {
      const std::uint32_t c = random.below(round % 2 ? 0x110000 : 0x100);
      if (c < 0xD800 || c > 0xDFFF) characters += static_cast<char32_t>(c);
    }
    std::string text;
    for (const char32_t c : characters) append_utf8(c, text);
    const auto ids = encode(encoder, text);
    ASSERT_EQ(vocabulary.decode(ids), text);
  }
}

}  // namespace
}  // namespace podium
