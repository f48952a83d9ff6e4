#include "worker/data/corpus.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <numeric>

#include "common/base/file.h"
#include "tests/worker/data/corpus_fixture.h"
#include "tests/worker/data/megatron_files.h"
#include "worker/input/bad_data.h"

namespace podium {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Corpus, KeepsDocumentsAndSentences) {
  MadeUpCorpus made;
  const Corpus corpus = made.read("w1 w2\nw3\n\n\n  \nw4p5 w6\n");
  ASSERT_EQ(corpus.documents(), 2);
  EXPECT_EQ(corpus.sentences(), 3);
  EXPECT_EQ(corpus.tokens(), 6);
  EXPECT_EQ(corpus.first_sentence(1), 2);
  EXPECT_EQ(corpus.sentence_length(0), 2);
  std::vector<std::int32_t> ids;
  corpus.append_sentence(2, ids);
  const Vocabulary& vocabulary = made.tokenizer.vocabulary();
  EXPECT_EQ(ids, (std::vector{*vocabulary.find("w4"), *vocabulary.find("##p5"), *vocabulary.find("w6")}));
}

TEST(Corpus, AFilesEndEndsItsDocument) {
  MadeUpCorpus made;
  const auto path = made.folder.path() / "text.txt";
  made.read("w1");
  Reading reading;
  EXPECT_EQ(Corpus::read({path, path}, made.tokenizer, reading).documents(), 2);
}

TEST(Corpus, CountsDocumentsOfOneSentence) {
  MadeUpCorpus made;
  EXPECT_EQ(made.read("w1\n\nw2\nw3\n\nw4 w5\n").lone_sentences(), 2);
}

TEST(Corpus, TellsItsProgressAndCanBeCancelled) {
  MadeUpCorpus made;
  const auto path = made.folder.path() / "text.txt";
  made.read("w1 w2\nw3\n\nw4\n");
  Reading reading;
  Corpus::read({path, path}, made.tokenizer, reading);
  EXPECT_EQ(reading.expected(), 2 * std::filesystem::file_size(path));
  EXPECT_EQ(reading.done(), reading.expected());
  reading.cancel();
  EXPECT_THROW(Corpus::read({path}, made.tokenizer, reading), ReadingCancelled);
}

// These hung, or read without an end.
TEST(Corpus, OnlyRegularFilesAreRead) {
  MadeUpCorpus made;
  const auto pipe = made.folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  Reading reading;
  for (const std::filesystem::path& path : {pipe, std::filesystem::path("/dev/zero"), made.folder.path()})
    EXPECT_THAT([&] { Corpus::read({path}, made.tokenizer, reading); },
                testing::ThrowsMessage<BadData>(testing::HasSubstr("regular files")))
        << path;
}

TEST(Corpus, TextWithoutASentenceIsRefused) {
  MadeUpCorpus made;
  EXPECT_THROW(made.read("\n \n"), BadData);
}

TEST(Corpus, CountsItsTokens) {
  const MadeUpCorpus made;
  const auto counts = made.corpus.frequencies();
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), made.corpus.tokens());
}

TEST(TokenArray, HoldsIdsOfBothWidths) {
  for (const std::int32_t vocabulary : {1 << 16, (1 << 16) + 1}) {
    TokenArray array(vocabulary);
    array.append(std::vector<std::int32_t>{0, 7, vocabulary - 1});
    EXPECT_EQ(array.size(), 3u);
    EXPECT_EQ(array[2], vocabulary - 1);
  }
}

TEST(CorpusData, AnEmptySentenceOrDocumentIsRefused) {
  const TempFolder folder;
  const WordPieceTokenizer tokenizer(made_up_vocabulary(), true);
  Reading reading;
  const auto read = [&] { Corpus::read({folder.path() / "data.bin"}, tokenizer, reading); };
  write_megatron<std::uint16_t>(folder.path() / "data", {{5, 6}, {}, {7}}, 8);
  EXPECT_THAT(read, ThrowsMessage<BadData>(HasSubstr("sentence 1 has no token")));
  const auto bin = write_megatron<std::uint16_t>(folder.path() / "data", {{5}, {6}}, 8);
  MegatronIndex index = index_of({{5}, {6}}, 8, 2);
  index.documents = {0, 1, 1, 2};
  index.entries = 4;
  write_file_atomic(folder.path() / "data.idx", index.bytes());
  EXPECT_THAT(read, ThrowsMessage<BadData>(HasSubstr("document 1 has no sentence")));
}

}  // namespace
}  // namespace podium
