#include "worker/tokenizer/load_tokenizer.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "tests/worker/tokenizer/byte_vocabulary.h"
#include "tests/worker/tokenizer/vectors.h"
#include "worker/input/bad_data.h"
#include "worker/tokenizer/bpe_tokenizer.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Ids = std::vector<std::int32_t>;

const std::string kVocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##want\n##ed\na\né\nÉ\ne\n";

json wordpiece_json() {
  json vocab;
  std::istringstream lines(kVocabulary);
  for (std::string token; std::getline(lines, token);) vocab[token] = vocab.size();
  return {{"added_tokens",
           {{{"id", 4}, {"content", "[MASK]"}, {"special", true}, {"normalized", false}, {"lstrip", true}}}},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", true},
            {"strip_accents", nullptr},
            {"lowercase", true}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", vocab}}}};
}

json bpe_json() {
  return {{"added_tokens", {{{"id", 259}, {"content", "<new>"}, {"special", false}, {"normalized", true}}}},
          {"normalizer", nullptr},
          {"pre_tokenizer",
           {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}}},
          {"post_processor", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}}},
          {"model", {{"type", "BPE"}, {"vocab", byte_ids({"a b"})}, {"merges", {"a b"}}}}};
}

class LoadTokenizer : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    write_file_atomic(folder_.path() / name, text);
  }
  void write(const std::string& name, const json& content) { write(name, content.dump(1)); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::unique_ptr<const Tokenizer> load() const { return load_tokenizer(folder_.path().string(), true); }
  Ids encode_loaded(std::string_view text) const { return encode(*load(), text); }
  auto refusal_of(const std::string& message) const { return ThrowsMessage<BadData>(HasSubstr(message)); }

  TempFolder folder_;
};

TEST_F(LoadTokenizer, NamesItsFilesOrAFolder) {
  write("v.txt", kVocabulary);
  EXPECT_EQ(encode(*load_tokenizer("wordpiece:" + path("v.txt"), true), "UNwanted É"), (Ids{5, 6, 7, 11}));
  EXPECT_EQ(encode(*load_tokenizer("wordpiece:" + path("v.txt"), false), "unwanted É"), (Ids{5, 6, 7, 10}));
  write("v.json", byte_ids({"a b"}));
  write("m.txt", std::string("a b\n"));
  EXPECT_EQ(encode(*load_tokenizer("bpe:" + path("v.json") + "," + path("m.txt"), true), "ab<|endoftext|>"),
            (Ids{256, 257}));
  EXPECT_THAT([&] { load_tokenizer("bpe:v.json", true); }, refusal_of("bpe:vocab.json,merges.txt"));
  EXPECT_THAT([&] { load_tokenizer("vocab.txt", true); }, refusal_of("name wordpiece:vocab.txt"));
  EXPECT_THAT([&] { load(); }, refusal_of("holds no tokenizer"));
}

TEST_F(LoadTokenizer, AFolderWithVocabTxtIsWordPiece) {
  write("vocab.txt", kVocabulary);
  EXPECT_EQ(encode_loaded("UNwanted É[MASK]"), (Ids{5, 6, 7, 11, 4}));
  write("tokenizer_config.json", json{{"do_lower_case", false}});
  EXPECT_EQ(encode_loaded("unwanted É"), (Ids{5, 6, 7, 10}));
  write("tokenizer_config.json", json{{"do_lower_case", true}, {"strip_accents", false}});
  EXPECT_EQ(encode_loaded("É"), Ids{9});
  write("tokenizer_config.json",
        json{{"tokenize_chinese_chars", false}, {"additional_special_tokens", {"<q>"}}});
  EXPECT_EQ(encode_loaded("a<q>\u535aa"), (Ids{8, 12, 1})) << "<q> is numbered behind the vocabulary";
  EXPECT_EQ(load()->size(), 13);
}

TEST_F(LoadTokenizer, AddedTokensAreThoseOfTheConfig) {
  write("vocab.txt", kVocabulary);
  write("tokenizer_config.json",
        json{{"added_tokens_decoder",
              {{"20", {{"content", "Ent"}, {"normalized", true}, {"special", false}}}}}});
  write("added_tokens.json", json{{"<x>", 30}});
  EXPECT_EQ(encode_loaded("a eNtA<X>"), (Ids{8, 20, 8, 30})) << "normalised as the text is";
  EXPECT_EQ(offsets(*load(), "a eNtA<X>"), (std::vector<Ids>{{0, 1}, {2, 5}, {5, 6}, {6, 9}}));
  EXPECT_EQ(load()->size(), 31);
  write("tokenizer_config.json", json{{"added_tokens_decoder", {{"x", {{"content", "y"}}}}}});
  EXPECT_THAT([&] { load(); }, refusal_of("tokenizer_config.json: added_tokens_decoder: \"x\" is no id"));
  write("tokenizer_config.json", json{{"do_lower_case", "yes"}});
  EXPECT_THAT([&] { load(); }, refusal_of("tokenizer_config.json: "));
  write("tokenizer_config.json", std::string("{\n\"do_lower_case\": }"));
  EXPECT_THAT([&] { load(); }, refusal_of("tokenizer_config.json:2: "));
}

TEST_F(LoadTokenizer, AnAddedTokenThatIsNotNormalisedIsFoundAloneAsItIsWritten) {
  write("vocab.txt", kVocabulary);
  write("tokenizer_config.json",
        json{{"added_tokens_decoder", {{"20", {{"content", "un"}, {"normalized", false}}}}}});
  EXPECT_EQ(encode_loaded("un UN"), (Ids{20, 5}));
}

// As the reference does: behind the highest id of any token.
TEST_F(LoadTokenizer, ASpecialTokenWithoutAnIdIsNumberedBehindTheAddedTokens) {
  write("vocab.txt", kVocabulary);
  write("tokenizer_config.json", json{{"added_tokens_decoder", {{"20", {{"content", "<p>"}}}}},
                                      {"additional_special_tokens", {"<q>"}}});
  EXPECT_EQ(encode_loaded("<p><q>"), (Ids{20, 21}));
  EXPECT_EQ(load()->size(), 22);
}

TEST_F(LoadTokenizer, TheTokenThatEndsATextMayBeAddedOrHaveAnotherName) {
  const auto end = [&] { return dynamic_cast<const BpeTokenizer&>(*load()).end_of_text(); };
  json content = bpe_json();
  write("tokenizer.json", content);
  EXPECT_EQ(end(), 257) << "of the vocabulary";
  content["model"]["vocab"].erase("<|endoftext|>");
  write("tokenizer.json", content);
  EXPECT_EQ(end(), -1);
  content["added_tokens"] = {{{"id", 257}, {"content", "<|endoftext|>"}, {"special", true}},
                             {{"id", 258}, {"content", "<|im_end|>"}, {"special", true}}};
  write("tokenizer.json", content);
  EXPECT_EQ(end(), 257);
  write("tokenizer_config.json", json{{"eos_token", "<|im_end|>"}});
  EXPECT_EQ(end(), 258);
  write("tokenizer_config.json", json{{"eos_token", {{"content", "ab"}}}});
  EXPECT_EQ(end(), 256);
}

TEST_F(LoadTokenizer, OfAFolderOfVocabularyAndMergesTheConfigNamesTheTokenThatEndsAText) {
  write("vocab.json", byte_ids({"a b"}));
  write("merges.txt", std::string("a b\n"));
  const auto end = [&] { return dynamic_cast<const BpeTokenizer&>(*load()).end_of_text(); };
  EXPECT_EQ(end(), 257);
  write("tokenizer_config.json", json{{"eos_token", "<end>"}});
  EXPECT_EQ(end(), 258) << "added behind the vocabulary";
}

// As the reference does: what overlaps goes to the token that is not normalised.
TEST_F(LoadTokenizer, TokensThatAreNotNormalisedAreFoundFirst) {
  json content = bpe_json();
  content["added_tokens"] = {{{"id", 259}, {"content", "xy"}, {"special", false}, {"normalized", true}},
                             {{"id", 260}, {"content", "yz"}, {"special", false}, {"normalized", false}}};
  write("tokenizer.json", content);
  EXPECT_EQ(encode_loaded("xyz"), (Ids{encode_loaded("x").at(0), 260}));
  EXPECT_EQ(encode_loaded("xy"), Ids{259});
}

TEST_F(LoadTokenizer, SpecialTokensMayBeAddedToTheVocabulary) {
  json content = wordpiece_json();
  content["model"]["vocab"] = {{"[PAD]", 0}, {"[UNK]", 1}, {"un", 2}};
  const auto added = [](int id, const char* name) {
    return json{{"id", id}, {"content", name}, {"special", true}, {"normalized", false}};
  };
  content["added_tokens"] = {added(0, "[PAD]"), added(3, "[CLS]"), added(5, "[MASK]")};
  write("tokenizer.json", content);
  const auto tokenizer = load();
  const auto& wordpiece = dynamic_cast<const WordPieceTokenizer&>(*tokenizer);
  const SpecialTokens& special = wordpiece.special();
  EXPECT_EQ((Ids{special.pad, special.unknown, special.classify, special.separator, special.mask}),
            (Ids{0, 1, 3, -1, 5}));
  EXPECT_EQ(wordpiece.token(2), "un");
  EXPECT_EQ(wordpiece.token(3), "[CLS]");
  EXPECT_EQ(wordpiece.token(4), "") << "no token has this id";
  EXPECT_EQ(wordpiece.token(6), "");
}

TEST_F(LoadTokenizer, IdsOfAddedTokensAreChecked) {
  write("vocab.txt", kVocabulary);
  for (const char* id : {"-7", "1.7", "1073741824", "2147483647", "4294967296", "\"3\"", "null", "[]"}) {
    write("added_tokens.json", "{\"zz\": " + std::string(id) + "}");
    EXPECT_THAT([&] { load(); }, refusal_of("added_tokens.json: the id of token \"zz\"")) << id;
  }
  write("added_tokens.json", json{{"zz", 1073741823}});
  EXPECT_EQ(load()->size(), 1 << 30);
  write("added_tokens.json", json::object());
  write("tokenizer_config.json", json{{"added_tokens_decoder", {{"1073741824", {{"content", "zz"}}}}}});
  EXPECT_THAT([&] { load(); }, refusal_of("added_tokens_decoder: \"1073741824\" is no id"));
  json content = wordpiece_json();
  content["added_tokens"][0]["id"] = -7;
  write("tokenizer_config.json", json::object());
  write("tokenizer.json", content);
  EXPECT_THAT([&] { load(); }, refusal_of("tokenizer.json: the id of token \"[MASK]\""));
}

TEST_F(LoadTokenizer, JsonThatNestsDeeplyIsRefused) {
  const auto nested = [](std::size_t levels, const std::string& open, const std::string& close) {
    std::string text;
    for (std::size_t i = 0; i < levels; ++i) text += open;
    for (std::size_t i = 0; i < levels; ++i) text += close;
    return text;
  };
  write("vocab.txt", kVocabulary);
  write("tokenizer_config.json", "{\"x\": \"[[[\\\"\",\n\"y\": " + nested(63, "[", "]") + "}");
  EXPECT_EQ(encode_loaded("a"), Ids{8}) << "brackets in a text do not nest";
  write("tokenizer_config.json", "{\"x\":\n\"[\", \"pad_token\": " + nested(64, "[", "]") + "}");
  EXPECT_THAT([&] { load(); }, refusal_of("tokenizer_config.json:2: the JSON is more than 64 levels deep"));
  write("tokenizer_config.json", json::object());
  write("tokenizer.json",
        "{\"post_processor\": " + nested(300'000, R"({"type":"Sequence","processors":[)", "]}") + "}");
  EXPECT_THAT([&] { load(); }, refusal_of("tokenizer.json:1: the JSON is more than 64 levels deep"));
}

TEST_F(LoadTokenizer, AFolderWithMergesIsBytePairs) {
  write("vocab.json", byte_ids({"Ġ a"}));
  write("merges.txt", std::string("#version: 0.2\nĠ a\n"));
  EXPECT_EQ(encode_loaded("a a"), (Ids{'a', 256}));
  write("tokenizer_config.json",
        json{{"add_prefix_space", true}, {"pad_token", {{"content", "<pad>"}, {"lstrip", true}}}});
  EXPECT_EQ(encode_loaded("a a <pad>"), (Ids{256, 256, 258}));
}

TEST_F(LoadTokenizer, ReadsTokenizerJson) {
  write("tokenizer.json", wordpiece_json());
  EXPECT_EQ(encode_loaded("UNwanted [MASK]É"), (Ids{5, 6, 7, 4, 11}));
  EXPECT_EQ(offsets(*load(), "a [MASK]É"), (std::vector<Ids>{{0, 1}, {1, 8}, {8, 9}})) << "lstrip";
  write("tokenizer_config.json", json{{"do_lower_case", false}});
  EXPECT_EQ(encode_loaded("É"), Ids{10}) << "what the configuration says goes first";

  write("tokenizer_config.json", json::object());
  write("tokenizer.json", bpe_json());
  EXPECT_EQ(encode_loaded("ab<new><|endoftext|>"),
            (Ids{256, 259, '<', '|', 'e', 'n', 'd', 'o', 'f', 't', 'e', 'x', 't', '|', '>'}))
      << "the file does not say that <|endoftext|> is special";
  EXPECT_EQ(offsets(*load(), " a ab"), (std::vector<Ids>{{1, 1}, {1, 2}, {3, 3}, {3, 5}})) << "trimmed";
  json pairs = bpe_json();
  pairs["model"]["merges"] = json::array({json::array({"a", "b"})});
  write("tokenizer.json", pairs);
  EXPECT_EQ(encode_loaded("ab"), Ids{256});
}

TEST_F(LoadTokenizer, RefusesATokenizerJsonOfAnotherKind) {
  const auto expect_refusal = [&](json content, const char* pointer, const json& value,
                                  const std::string& message) {
    content[json::json_pointer(pointer)] = value;
    write("tokenizer.json", content);
    EXPECT_THAT([&] { load(); }, refusal_of(message)) << pointer;
  };
  expect_refusal(wordpiece_json(), "/model/type", "Unigram", "the model \"Unigram\" is not known");
  expect_refusal(wordpiece_json(), "/normalizer/type", "NFKC", "the normalizer \"NFKC\" is not known");
  expect_refusal(wordpiece_json(), "/pre_tokenizer/type", "Metaspace",
                 "the pre_tokenizer \"Metaspace\" is not known");
  expect_refusal(wordpiece_json(), "/model/unk_token", "<unk>", "lacks the token <unk>");
  expect_refusal(wordpiece_json(), "/model/vocab/a", 99, "ids must count from 0 without a gap");
  expect_refusal(bpe_json(), "/model/end_of_word_suffix", "</w>", "end_of_word_suffix");
  expect_refusal(bpe_json(), "/pre_tokenizer/use_regex", false, "the pre_tokenizer \"ByteLevel\"");
  expect_refusal(bpe_json(), "/model/merges", {"a b", "a q"},
                 "tokenizer.json: merge 2: the vocabulary lacks the token");
  expect_refusal(bpe_json(), "/model/merges", {"ab"}, "merge 1: a merge is two tokens");
  write("tokenizer.json", std::string("{\"model\": {},\n"));
  EXPECT_THAT([&] { load(); }, refusal_of("tokenizer.json:2: "));
  write("tokenizer.json", std::string("{\"model\": 1e999}"));
  EXPECT_THAT([&] { load(); }, refusal_of("tokenizer.json: "));
  write("tokenizer.json", std::string("{}"));
  EXPECT_THAT([&] { load(); }, refusal_of("key 'model' not found"));
}

}  // namespace
}  // namespace podium
