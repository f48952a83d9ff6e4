#include "worker/tokenizer/bpe_builder.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "common/base/file.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"
#include "worker/input/bad_data.h"
#include "worker/tensor/random.h"
#include "worker/tokenizer/bpe_tokenizer.h"

namespace podium {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

BpeFiles build(const std::vector<std::string>& texts, std::int32_t size) {
  BpeBuilder builder;
  for (const std::string& text : texts) builder.add_text(text);
  return builder.build(size);
}

BpeVocabulary read(const BpeFiles& files) {
  return {files.vocab_json, "vocab.json", files.merges_txt, "merges.txt"};
}

TEST(BpeBuilder, MergesTheMostFrequentPairFirst) {
  // "ug" occurs 4 times, "hug" and " hug" 3 times, "un" 2 times; of the ties "h" is known before " ".
  EXPECT_EQ(build({" hug hug hug pug", "pun bun"}, 263).merges_txt,
            "#version: 0.2\nu g\nh ug\nĠ hug\nu n\nb un\np ug\n");
}

TEST(BpeBuilder, NumbersTheBytesAsGpt2Does) {
  const BpeVocabulary vocabulary = read(build({"ab"}, 300));
  EXPECT_EQ(vocabulary.size(), 258);
  EXPECT_EQ(vocabulary.byte_token('!'), 0);
  EXPECT_EQ(vocabulary.byte_token('\n'), 198);
  EXPECT_EQ(vocabulary.byte_token(' '), 220);
  EXPECT_EQ(vocabulary.end_of_text(), 257);
}

TEST(BpeBuilder, DoesNotDependOnTheOrderOfTheText) {
  const std::vector<std::string> texts{"the cat sat on the mat\n", "a hat, that is that\n"};
  const BpeFiles one = build(texts, 280);
  const BpeFiles other = build({texts[1], texts[0]}, 280);
  EXPECT_EQ(one.vocab_json, other.vocab_json);
  EXPECT_EQ(one.merges_txt, other.merges_txt);
}

TEST(BpeBuilder, RefusesASizeThatCannotHoldTheBytes) {
  EXPECT_THAT([] { build({"a"}, 256); }, ThrowsMessage<BadData>(HasSubstr("at least 257")));
  EXPECT_THAT([] { build({}, 300); }, ThrowsMessage<BadData>(HasSubstr("no words")));
  EXPECT_EQ(read(build({"a"}, 257)).size(), 257);
}

// Words of a few letters, so that counts tie and pairs overlap, among white space and digits.
std::string made_up_text() {
  Random random(9, 0);
  std::string text;
  for (int w = 0; w < 3000; ++w) {
    for (std::uint32_t i = 0, letters = 1 + random.below(8); i < letters; ++i)
      text += static_cast<char>('a' + std::min(random.below(6), random.below(6)));
    constexpr const char* kBetween[] = {" ", " ", " ", ", ", ".\n", "\n\n  ", " 1999 ", "!?"};
    text += kBetween[random.below(8)];
  }
  return text;
}

TEST(BpeBuilder, EqualsAPlainReference) {
  const TempFolder folder;
  const std::string text = made_up_text();
  write_file_atomic(folder.path() / "corpus.txt", text);
  const std::string command = "python3 " + test::source_path("tests/worker/tokenizer/bpe_reference.py ") +
                              (folder.path() / "corpus.txt").string() + " 420 > " +
                              (folder.path() / "merges").string();
  ASSERT_EQ(std::system(command.c_str()), 0);
  const BpeFiles built = build({text}, 420);
  EXPECT_EQ(built.merges_txt, read_file(folder.path() / "merges"));

  const BpeVocabulary vocabulary = read(built);
  EXPECT_EQ(vocabulary.size(), 420);
  std::vector<std::int32_t> ids;
  BpeTokenizer(vocabulary).encode(text, ids);
  EXPECT_EQ(vocabulary.decode(ids), text);
  EXPECT_LT(ids.size(), text.size() / 2);
}

}  // namespace
}  // namespace podium
