#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/worker/tokenizer/byte_vocabulary.h"
#include "tests/worker/tokenizer/vectors.h"
#include "worker/input/bad_data.h"
#include "worker/input/utf8.h"
#include "worker/tensor/random.h"
#include "worker/tokenizer/bpe_tokenizer.h"
#include "worker/tokenizer/bpe_words.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;

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
  const BpeTokenizer tokenizer(vocabulary);
  const auto tokens = [&](std::string_view text) {
    std::vector<std::string> found;
    for (const std::int32_t id : encode(tokenizer, text)) found.push_back(vocabulary.token(id));
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
  const BpeTokenizer tokenizer(vocabulary);
  Random random(3, 0);
  for (int round = 0; round < 300; ++round) {
    std::string word;
    for (std::uint32_t i = 0, size = 1 + random.below(round < 290 ? 40 : 2000); i < size; ++i)
      word += random.below(5) == 0 ? 'b' : "ab"[random.below(2)];
    ASSERT_EQ(encode(tokenizer, word), merge_plainly(vocabulary, word)) << word;
  }
}

TEST(Bpe, EndOfTextWrittenOutBecomesItsToken) {
  const BpeVocabulary vocabulary = byte_vocabulary({});
  const BpeTokenizer tokenizer(vocabulary);
  const std::int32_t end = vocabulary.end_of_text();
  EXPECT_EQ(encode(tokenizer, "<|endoftext|>a<|endoftext|>"),
            (std::vector<std::int32_t>{end, vocabulary.byte_token('a'), end}));
  EXPECT_EQ(encode(tokenizer, "<|endoftext|").size(), 12u);
}

TEST(Bpe, MergesThatReachFewOfTheTokensAreRefused) {
  std::vector<std::string> merges;
  for (char left = 'a'; left <= 'z'; ++left)
    for (char right = 'a'; right <= 'z'; ++right) merges.push_back({left, ' ', right});
  const json ids = byte_ids(merges);  // of 676 pairs, and end-of-text
  const auto with = [&](std::size_t count) {
    std::string lines = "#version: 0.2\n";
    for (std::size_t i = 0; i < count; ++i) lines += merges[i] + "\n";
    return BpeVocabulary(ids.dump(), "vocab.json", lines, "merges.txt");
  };
  EXPECT_NO_THROW(with(676 - 64));
  EXPECT_THAT([&] { with(676 - 65); },
              ThrowsMessage<BadData>(
                  "merges.txt: its 611 merges leave 65 of the vocabulary's 933 tokens out of reach; it "
                  "is cut off, or belongs to another vocabulary"));
  EXPECT_THAT([&] { with(0); }, ThrowsMessage<BadData>(HasSubstr("its 0 merges leave 676")));
}

TEST(Bpe, SpecialTokensNeedNoMerge) {
  json ids = byte_ids({});
  const auto add = [&](const std::string& begin, const std::string& end, int count) {
    for (int i = 0; i < count; ++i) ids[begin + std::to_string(i) + end] = ids.size();
  };
  add("<|special-", "|>", 500);
  add("[unused", "]", 500);
  add("word", "", 64);
  EXPECT_NO_THROW(BpeVocabulary(ids.dump(), "v.json", "", "m.txt"));
  add("another", "", 1);
  EXPECT_THROW(BpeVocabulary(ids.dump(), "v.json", "", "m.txt"), BadData);
}

TEST(Bpe, AnEmptyTokenStandsInNoText) {
  json ids = byte_ids({"a b"});
  ids[""] = ids.size();
  const BpeTokenizer tokenizer(BpeVocabulary(ids.dump(), "v.json", "a b\n", "m.txt"));
  EXPECT_EQ(encode(tokenizer, "ab\n"), (std::vector<std::int32_t>{256, '\n'}));
  EXPECT_EQ(encode(tokenizer, ""), std::vector<std::int32_t>{});
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
  EXPECT_THAT(message(good, "a a\nab b\n"), HasSubstr("m.txt:2: the vocabulary lacks the token \"ab\""));
  EXPECT_THAT(message(good, "a a\n\xFF a\n"), HasSubstr("m.txt:2: the line is not UTF-8"));
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
                         json::object({{"a", 1}}), json(std::uint64_t{1} << 40), json(INT32_MAX)})
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
  EXPECT_THAT([&] { parse("{\"a\": 1e999}"); }, testing::ThrowsMessage<BadData>(HasSubstr("v.json: ")));
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
      const BpeTokenizer tokenizer(vocabulary);
      const std::string text = "abc ab a\n\u00e9c";
      EXPECT_EQ(vocabulary.decode(encode(tokenizer, text)), text) << round;
      ++accepted;
    } catch (const BadData&) {
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 1000);
}

BpeTokenizer published(const std::string& model) {
  return BpeTokenizer(BpeVocabulary::load(*shared_data("vocab/" + model + "-vocab.json"),
                                          *shared_data("vocab/" + model + "-merges.txt")));
}

void check_model(const std::string& model) {
  const auto vectors = shared_data("tokenizer_vectors/" + model + ".jsonl.zst");
  if (!vectors) GTEST_SKIP() << "skipped: no shared data";
  check_vectors(published(model), *vectors);
}

TEST(Bpe, MatchesGpt2) { check_model("gpt2"); }
TEST(Bpe, MatchesGpt2Tiny) { check_model("gpt2-tiny"); }

TEST(Bpe, MatchesLlamaCppsGpt2Texts) {
  if (!shared_data("vocab/gpt2-vocab.json")) GTEST_SKIP() << "skipped: no shared data";
  check_llama_cpp(published("gpt2"), "ggml-vocab-gpt-2.gguf");
}

TEST(Bpe, MatchesUpstreamsOffsets) {
  const auto path = shared_data("tokenizer_vectors/upstream_unit_vectors.json");
  if (!path) GTEST_SKIP() << "skipped: no shared data";
  const json cases = json::parse(read_file(*path)).at("byte_level_offsets");
  ASSERT_FALSE(cases.empty());
  for (const json& vector : cases) {
    const BpeTokenizer tokenizer(published("gpt2").vocabulary(),
                                 {.trim_offsets = vector.at("trim_offsets").get<bool>()});
    EXPECT_EQ(json(offsets(tokenizer, vector.at("text").get<std::string>())), vector.at("offsets"));
  }
}

TEST(Bpe, MatchesUpstreamsUnitTests) {
  const auto path = shared_data("tokenizer_vectors/upstream_unit_vectors.json");
  if (!path) GTEST_SKIP() << "skipped: no shared data";
  const json vectors = json::parse(read_file(*path));
  const BpeTokenizer tokenizer = published("gpt2");
  ASSERT_GE(vectors.at("gpt2_real").size(), 10u);
  for (const json& vector : vectors.at("gpt2_real"))
    EXPECT_EQ(encode(tokenizer, vector.at("text").get<std::string>()),
              vector.at("ids").get<std::vector<std::int32_t>>());
}

using Offsets = std::vector<std::vector<std::int32_t>>;

TEST(Bpe, EveryTokenOfACharacterHasTheWholeOfIt) {
  const BpeTokenizer tokenizer(byte_vocabulary({"Ġ a", "Ã ©"}));
  EXPECT_EQ(offsets(tokenizer, "é ab<|endoftext|>\U0001F999"),
            (Offsets{{0, 1}, {1, 3}, {3, 4}, {4, 17}, {17, 18}, {17, 18}, {17, 18}, {17, 18}}));
}

TEST(Bpe, ASpaceThatIsPutBeforeTheTextHasThePlaceOfItsFirstCharacter) {
  const BpeTokenizer tokenizer(byte_vocabulary({"Ġ a"}), {.add_prefix_space = true});
  EXPECT_EQ(encode(tokenizer, "ab"), encode(tokenizer, " ab"));
  EXPECT_EQ(offsets(tokenizer, "ab"), (Offsets{{0, 1}, {1, 2}}));
  EXPECT_EQ(offsets(tokenizer, " ab"), (Offsets{{0, 2}, {2, 3}}));
  EXPECT_EQ(offsets(tokenizer, "b"), (Offsets{{0, 1}, {0, 1}}));
  EXPECT_EQ(offsets(tokenizer, ""), Offsets{});
}

TEST(Bpe, TrimmedOffsetsLeaveSpacesOut) {
  const auto trimmed = [](BpeOptions options, std::string_view text) {
    options.trim_offsets = true;
    return offsets(BpeTokenizer(byte_vocabulary({"Ġ a", "Ġ Ġ"}), options), text);
  };
  EXPECT_EQ(trimmed({}, " a a"), (Offsets{{0, 2}, {3, 4}}));
  EXPECT_EQ(trimmed({.trims_prefix = true}, " a a"), (Offsets{{1, 2}, {3, 4}}));
  EXPECT_EQ(trimmed({}, "b   a"), (Offsets{{0, 1}, {3, 3}, {4, 5}}));
  EXPECT_EQ(trimmed({.added = {{.content = "<m>", .id = 300, .lstrip = true}}}, "b\u2003 <m>"),
            (Offsets{{0, 1}, {3, 6}}));
}

TEST(Bpe, EveryCharacterSurvivesTheRoundTrip) {
  const BpeVocabulary vocabulary = byte_vocabulary({"Ġ a", "a b"});
  const BpeTokenizer tokenizer(vocabulary);
  Random random(5, 0);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    for (int i = 0; i < 200; ++i) {
      const auto c = static_cast<UChar32>(random.below(round % 2 ? 0x110000 : 0x100));
      if (c < 0xD800 || c > 0xDFFF) append_utf8(c, text);
    }
    ASSERT_EQ(vocabulary.decode(encode(tokenizer, text)), text);
    std::int32_t end = 0;  // each character is some token's, in their order
    for (const auto& range : offsets(tokenizer, text)) {
      ASSERT_TRUE(range[0] == end || range[0] == end - 1) << text;
      ASSERT_LT(range[0], range[1]) << text;
      end = range[1];
    }
    ASSERT_EQ(end, count_characters(text));
  }
}

}  // namespace
}  // namespace podium
