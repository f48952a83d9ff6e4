// The same text is known again wherever it lies, and other text is noticed.
#include "common/model/text_identity.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "tests/worker/data/megatron_files.h"
#include "tests/worker/tokenizer/byte_vocabulary.h"
#include "worker/data/corpus.h"
#include "worker/data/token_stream.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {
namespace {

class TextIdentityOf : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) {
    write_file_atomic(folder_.path() / name, text);
    return folder_.path() / name;
  }
  TextIdentity corpus(const std::string& text, const std::string& name = "text") {
    const auto vocabulary = write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\none\ntwo\nthree\n");
    const WordPieceTokenizer tokenizer(Vocabulary::load(vocabulary), true);
    Reading reading;
    return Corpus::read({write(name, text)}, tokenizer, reading).identity();
  }

  TempFolder folder_;
};

TEST_F(TextIdentityOf, ACorpusIsKnownAgainWhereverItLies) {
  const TextIdentity text = corpus("one two\nthree\n\none one\n");
  EXPECT_EQ(text.tokens, 5);
  EXPECT_EQ(text.sentences, 3);
  EXPECT_EQ(corpus("one two\nthree\n\n\none  one\n", "moved"), text) << "blanks mean nothing";
  EXPECT_NE(corpus("one two\nthree\n\none two\n"), text) << "another word";
  EXPECT_NE(corpus("one\ntwo three\n\none one\n"), text) << "sentences end elsewhere";
  EXPECT_NE(corpus("one two\nthree\none one\n"), text) << "documents end elsewhere";
}

TEST_F(TextIdentityOf, AStreamIsKnownAgainWhereverItLies) {
  const BpeTokenizer tokenizer(byte_vocabulary({}));
  Reading reading;
  const auto stream = [&](const std::string& text, const std::string& name) {
    return TokenStream({write(name, text)}, tokenizer, reading).identity();
  };
  EXPECT_EQ(stream("a b c", "here.txt"), stream("a b c", "there.txt"));
  EXPECT_NE(stream("a b c", "here.txt"), stream("a b d", "there.txt"));

  const auto mapped = [&](const std::string& name, const std::vector<std::vector<std::int32_t>>& sequences) {
    return TokenStream({write_megatron<std::int32_t>(folder_.path() / name, sequences, 4)}, tokenizer,
                       reading)
        .identity();
  };
  const TextIdentity data = mapped("one", {{1, 2, 3}, {4}});
  EXPECT_EQ(data.tokens, 4);
  EXPECT_EQ(mapped("two", {{1, 2, 3}, {4}}), data);
  EXPECT_NE(mapped("three", {{1, 2}, {3, 4}}), data);
  EXPECT_NE(mapped("four", {{1, 2, 3}, {4, 5}}), data);
  EXPECT_NE(mapped("five", {{1, 2, 3}, {5}}), data) << "of the same sizes";
}

// Only the index and the size were looked at.
TEST_F(TextIdentityOf, MegatronDataOfManyTokensAreKnownBySamplesFromEndToEnd) {
  const BpeTokenizer tokenizer(byte_vocabulary({}));
  std::vector<std::int32_t> tokens(3 << 20);  // 12 MiB, of which a third is looked at
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<std::int32_t>(i % 250);
  const auto identity = [&] {
    Reading reading;
    return TokenStream({write_megatron<std::int32_t>(folder_.path() / "data", {tokens}, 4)}, tokenizer,
                       reading)
        .identity();
  };
  const TextIdentity data = identity();
  EXPECT_EQ(identity(), data);
  for (const std::size_t changed : {std::size_t{0}, tokens.size() - 1}) {
    ++tokens[changed];
    EXPECT_NE(identity(), data) << changed;
    --tokens[changed];
  }
  std::ranges::rotate(tokens, tokens.begin() + 1);
  EXPECT_NE(identity(), data) << "other tokens all over";
}

}  // namespace
}  // namespace podium
