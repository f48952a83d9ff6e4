#include "worker/data/language_dataset.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <numeric>
#include <set>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "tests/worker/data/megatron_files.h"
#include "tests/worker/shared_data.h"
#include "tests/worker/tokenizer/byte_vocabulary.h"
#include "worker/data/data_files.h"
#include "worker/input/bad_data.h"
#include "worker/tokenizer/bpe_tokenizer.h"

namespace podium {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::int32_t> all_tokens(const TokenStream& stream) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(stream.tokens()));
  stream.read(0, ids);
  return ids;
}

class LanguageDataTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    write_file_atomic(folder_.path() / name, text);
    return folder_.path() / name;
  }

  // Tokens 0, 1, 2 … in Megatron data, so that a token is its own position.
  TokenStream counting(std::int32_t tokens) const {
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(tokens));
    std::iota(numbers.begin(), numbers.end(), 0);
    return {{write_megatron<std::uint16_t>(folder_.path() / "counting", {numbers}, 8)}, tokenizer_, reading_};
  }

  std::vector<std::int32_t> bytes(std::string_view text) const {
    std::vector<std::int32_t> ids;
    for (const char byte : text)
      ids.push_back(byte == '|' ? tokenizer_.vocabulary().end_of_text()
                                : tokenizer_.vocabulary().byte_token(byte));
    return ids;
  }

  TempFolder folder_;
  BpeTokenizer tokenizer_{byte_vocabulary({})};
  mutable Reading reading_;
};

TEST_F(LanguageDataTest, EveryDocumentOfATextEndsOnce) {
  const TokenStream stream(
      {write("one.txt", "a\n\nb\n"),
       write("two.txt", "<|endoftext|>c<|endoftext|>\n \n<|endoftext|> d<|endoftext|>\n"),
       write("empty.txt", ""), write("three.txt", "e")},
      tokenizer_, reading_);
  EXPECT_EQ(all_tokens(stream), bytes("a\n\nb\n|c| d|e|"));
  std::vector<std::int32_t> some(5);
  stream.read(4, some);
  EXPECT_EQ(some, bytes("\n|c| "));
}

// Each file was expected when its turn came: all was "100 % done" again and again.
TEST_F(LanguageDataTest, AllTextIsExpectedBeforeAnyIsReadAndCountsOnce) {
  const auto first = write("one.txt", "some text"), bad = write("two.txt", "\xff"),
             last = write("three.txt", "more");
  Reading reading;
  EXPECT_THROW(TokenStream({first, bad, last}, tokenizer_, reading), BadData);
  EXPECT_EQ(reading.expected(), 9u + 1u + 4u);
  EXPECT_EQ(reading.done(), 9u);
}

TEST_F(LanguageDataTest, TextAndMegatronDataFollowOneAnother) {
  write_megatron<std::int32_t>(folder_.path() / "b_document", {{7, 8}, {9}}, 4);
  write("b_document.json", "the report");
  write("a.txt", "a");
  write("c.txt", "c");
  const TokenStream stream(data_files({"*"}, folder_.path()), tokenizer_, reading_);
  EXPECT_EQ(all_tokens(stream), (std::vector<std::int32_t>{'a', 256, 7, 8, 9, 'c', 256}));
  for (const char* pattern : {"b_document", "b_*", "b_document.bin", "b_document.idx", "*.bin"})
    EXPECT_EQ(
        data_files({pattern, "a.txt"}, folder_.path()),
        (std::vector<std::filesystem::path>{folder_.path() / "b_document.bin", folder_.path() / "a.txt"}))
        << pattern;
  EXPECT_THROW(data_files({"b"}, folder_.path()), BadData);
}

TEST_F(LanguageDataTest, UnfinishedPreparedDataAreRefused) {
  write("a.txt", "a");
  for (const char* name : {"web.prepare.json", "web.bin.part", "web.lengths.part"}) {
    const auto file = write(name, "unfinished");
    for (const std::string pattern : {"*", name})
      EXPECT_THAT([&] { data_files({pattern}, folder_.path()); },
                  ThrowsMessage<BadData>(HasSubstr(std::string(name) + " is of an unfinished prepare")));
    std::filesystem::remove(file);
  }
  EXPECT_EQ(data_files({"*"}, folder_.path()).size(), 1u);
}

TEST_F(LanguageDataTest, UnusableTextIsNamed) {
  const auto bad = write("bad.txt", "one\ntwo \xFF\n");
  EXPECT_THAT([&] { TokenStream({bad}, tokenizer_, reading_); },
              ThrowsMessage<BadData>(HasSubstr("bad.txt:2: byte 9 of the file")));
  const auto empty = write("empty.txt", " \n<|endoftext|>");
  EXPECT_THAT([&] { TokenStream({empty}, tokenizer_, reading_); },
              ThrowsMessage<BadData>(HasSubstr("no text in")));
  EXPECT_THAT([&] { TokenStream({folder_.path()}, tokenizer_, reading_); },
              ThrowsMessage<BadData>(HasSubstr("a folder")));
  write_megatron<std::int32_t>(folder_.path() / "other", {{7, 257}}, 4);
  const TokenStream stream({folder_.path() / "other.bin"}, tokenizer_, reading_);
  EXPECT_THAT([&] { all_tokens(stream); },
              ThrowsMessage<BadData>(HasSubstr("other.bin: token 257 at position 1")));
}

TEST_F(LanguageDataTest, ADocumentOfManyMebibytesGivesTheTokensOfTheWholeAndTellsItsProgress) {
  std::string text;
  for (int i = 0; text.size() < std::size_t{3} << 20; ++i)
    text += (i % 7 == 0 ? "  it's\n\n" : " w") + std::to_string(i * i) + (i % 5 == 0 ? "é" : "");
  std::vector<std::int32_t> whole;
  tokenizer_.encode(text, whole);
  whole.push_back(tokenizer_.vocabulary().end_of_text());
  const TokenStream stream({write("large.txt", text)}, tokenizer_, reading_);
  EXPECT_EQ(all_tokens(stream), whole);
  EXPECT_EQ(reading_.expected(), text.size());
  EXPECT_EQ(reading_.done(), reading_.expected());
  reading_.cancel();
  EXPECT_THROW(TokenStream({folder_.path() / "large.txt"}, tokenizer_, reading_), ReadingCancelled);
}

// These hung, or read without an end.
TEST_F(LanguageDataTest, OnlyRegularFilesAreRead) {
  const auto pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::filesystem::path& path : {pipe, std::filesystem::path("/dev/zero")})
    EXPECT_THAT([&] { TokenStream({path}, tokenizer_, reading_); },
                ThrowsMessage<BadData>(HasSubstr("regular files")))
        << path;
}

TEST_F(LanguageDataTest, FrequenciesCountEveryToken) {
  const TokenStream stream({write("a.txt", "banana")}, tokenizer_, reading_);
  const auto counts = stream.frequencies();
  ASSERT_EQ(counts.size(), 257u);
  EXPECT_EQ(counts['a'], 3);
  EXPECT_EQ(counts['n'], 2);
  EXPECT_EQ(counts[256], 1);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), 7);
}

TEST_F(LanguageDataTest, EveryTokenButTheFirstIsPredictedOnceAnEpoch) {
  for (const std::int32_t tokens : {2, 3, 16, 17, 18, 32, 33, 250}) {
    const TokenStream stream = counting(tokens);
    const LanguageDataset data(stream, 16, 3);
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<int> predicted(static_cast<std::size_t>(tokens), 0);
      for (std::int64_t i = 0; i < data.epoch_size(); ++i) {
        const auto ids = data.sample(epoch * data.epoch_size() + i);
        ASSERT_GE(ids.size(), 2u);
        ASSERT_LE(ids.size(), 17u);
        EXPECT_EQ(ids.front() % 16, 0);
        for (std::size_t k = 1; k < ids.size(); ++k) {
          EXPECT_EQ(ids[k], ids[k - 1] + 1);
          ++predicted[static_cast<std::size_t>(ids[k])];
        }
      }
      EXPECT_EQ(predicted[0], 0);
      EXPECT_EQ(std::count(predicted.begin() + 1, predicted.end(), 1), tokens - 1) << tokens;
    }
  }
}

TEST_F(LanguageDataTest, OrdersDifferBetweenEpochsAndSeeds) {
  const TokenStream stream = counting(256);
  const auto order = [&](std::uint64_t seed, std::int64_t epoch) {
    const LanguageDataset data(stream, 4, seed);
    std::vector<std::int32_t> first;
    for (std::int64_t i = 0; i < data.epoch_size(); ++i)
      first.push_back(data.sample(epoch * data.epoch_size() + i).front());
    return first;
  };
  const std::set<std::vector<std::int32_t>> orders{order(1, 0), order(1, 1), order(2, 0), order(2, 1)};
  EXPECT_EQ(orders.size(), 4u);
  EXPECT_EQ(order(1, 1), order(1, 1));
}

TEST(LanguageFixtures, OpenWebTextDecodesToText) {
  const auto bin = shared_data("megatron_indexed/meg-gpt2-openwebtext_text_document.bin");
  if (!bin) GTEST_SKIP() << "skipped: no shared data";
  const BpeTokenizer tokenizer(BpeVocabulary::load(*shared_data("vocab/gpt2-tiny-vocab.json"),
                                                   *shared_data("vocab/gpt2-tiny-merges.txt")));
  const BpeVocabulary& vocabulary = tokenizer.vocabulary();
  Reading reading;
  const TokenStream stream({*bin}, tokenizer, reading);
  EXPECT_EQ(stream.tokens(), 1'361'845);
  std::vector<std::int32_t> document(1411);
  stream.read(0, document);
  EXPECT_EQ(document.back(), vocabulary.end_of_text());
  // Encoding the text again gives the same tokens, so decoding has lost nothing.
  const std::string text = vocabulary.decode(document);
  std::vector<std::int32_t> again;
  tokenizer.encode(text, again);
  EXPECT_EQ(again, document);
  EXPECT_EQ(stream.frequencies()[static_cast<std::size_t>(vocabulary.end_of_text())], 1000);
}

}  // namespace
}  // namespace podium
