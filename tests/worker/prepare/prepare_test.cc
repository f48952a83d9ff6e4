#include "worker/prepare/prepare.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <fstream>

#include "common/base/file.h"
#include "tests/worker/data/corpus_fixture.h"
#include "tests/worker/shared_data.h"
#include "tests/worker/tokenizer/byte_vocabulary.h"
#include "worker/data/data_files.h"
#include "worker/data/failure.h"
#include "worker/data/megatron_data.h"
#include "worker/data/pretraining_dataset.h"
#include "worker/data/token_stream.h"
#include "worker/input/bad_data.h"
#include "worker/prepare/inputs.h"
#include "worker/tokenizer/load_tokenizer.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace fs = std::filesystem;

std::vector<std::int32_t> all_tokens(const MegatronData& data, std::int32_t vocabulary) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(data.size()));
  data.read(0, vocabulary, ids);
  return ids;
}

class PrepareTest : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
    return folder_.path() / name;
  }
  PrepareOptions options(const std::string& name, std::vector<fs::path> files) const {
    return {.files = std::move(files), .name = folder_.path() / name, .saved_every = 100'000};
  }
  PrepareResult run(const PrepareOptions& wanted) { return run(wanted, tokenizer_); }
  PrepareResult run(const PrepareOptions& wanted, const Tokenizer& tokenizer) {
    return prepare(wanted, tokenizer, stop_, [](const PrepareProgress&) {});
  }
  std::string written(const std::string& name) const {
    return read_file(folder_.path() / (name + ".bin")) + "|" + read_file(folder_.path() / (name + ".idx")) +
           "|" + read_file(folder_.path() / (name + ".json"));
  }

  TempFolder folder_;
  WordPieceTokenizer tokenizer_{made_up_vocabulary(), true};
  std::atomic<bool> stop_{false};
};

// The corpus that BERT trains on when it reads the same text.
TEST_F(PrepareTest, BertsSentencesAndDocumentsAreThoseOfTheCorpus) {
  const std::string text = made_up_text(300, 5);
  const auto file = write("text.txt", text);
  const PrepareReport report = run(options("made", {file})).report;
  Reading reading;
  const Corpus corpus = Corpus::read({file}, tokenizer_, reading);
  const MegatronData data(folder_.path() / "made.bin");
  ASSERT_EQ(data.sequences(), corpus.sentences());
  ASSERT_EQ(data.documents(), corpus.documents());
  ASSERT_EQ(data.size(), corpus.tokens());
  EXPECT_EQ(report.data.documents, data.documents());
  EXPECT_EQ(report.data.sequences, data.sequences());
  EXPECT_EQ(report.tokens, data.size());
  EXPECT_EQ(report.text_bytes, text.size());
  std::vector<std::int32_t> expected;
  for (std::int64_t d = 0; d < corpus.documents(); ++d)
    EXPECT_EQ(data.document_sequence(d), corpus.first_sentence(d));
  for (std::int64_t s = 0; s < corpus.sentences(); ++s) {
    EXPECT_EQ(data.sequence_length(s), corpus.sentence_length(s));
    corpus.append_sentence(s, expected);
  }
  EXPECT_EQ(all_tokens(data, tokenizer_.size()), expected);
}

TEST_F(PrepareTest, BertDrawsTheSameSamplesFromPreparedText) {
  const auto file = write("text.txt", made_up_text(50, 5));
  const auto more = write("more.txt", made_up_text(20, 6));
  run(options("made", {file}));
  Reading reading;
  const Corpus text = Corpus::read({file, more}, tokenizer_, reading);
  const Corpus mixed = Corpus::read({folder_.path() / "made.bin", more}, tokenizer_, reading);
  EXPECT_EQ(mixed.tokens(), text.tokens());
  EXPECT_EQ(mixed.lone_sentences(), text.lone_sentences());
  EXPECT_EQ(mixed.frequencies(), text.frequencies());
  PretrainingDataset from_text(text, tokenizer_.vocabulary(), {});
  PretrainingDataset from_mixed(mixed, tokenizer_.vocabulary(), {});
  for (std::int64_t i = 0; i < 3 * from_text.first_epoch_size(); ++i) {
    const PretrainingSample expected = from_text.sample(i);
    const PretrainingSample sample = from_mixed.sample(i);
    ASSERT_EQ(sample.ids, expected.ids) << i;
    ASSERT_EQ(sample.masked.labels, expected.masked.labels) << i;
    ASSERT_EQ(sample.random_next, expected.random_next) << i;
  }
}

// The stream that GPT trains on when it reads the same text.
TEST_F(PrepareTest, GptsTokensAreThoseOfTheStream) {
  const BpeTokenizer tokenizer(byte_vocabulary({"Ġ a", "a b"}));
  const auto file = write("text.txt", "ab a\n\nab<|endoftext|>\nc a b<|endoftext|> \n<|endoftext|>d\n");
  PrepareOptions wanted = options("made", {file});
  wanted.rules = {DocumentForm::end_of_text, SequenceForm::documents, "",
                  tokenizer.vocabulary().end_of_text()};
  EXPECT_EQ(run(wanted, tokenizer).report.data.documents, 3);
  Reading reading;
  const TokenStream text({file}, tokenizer, reading);
  const TokenStream prepared({folder_.path() / "made.bin"}, tokenizer, reading);
  ASSERT_EQ(prepared.tokens(), text.tokens());
  std::vector<std::int32_t> expected(static_cast<std::size_t>(text.tokens()));
  std::vector<std::int32_t> ids = expected;
  text.read(0, expected);
  prepared.read(0, ids);
  EXPECT_EQ(ids, expected);
}

TEST_F(PrepareTest, NeitherThreadsNorStopsChangeAByte) {
  std::vector<fs::path> files;
  for (int i = 0; i < 5; ++i)
    files.push_back(write("t" + std::to_string(i), made_up_text(3000, static_cast<std::uint64_t>(i))));
  run(options("one", files));
  PrepareOptions many = options("many", files);
  many.threads = 5;
  run(many);
  EXPECT_TRUE(written("one") == written("many"));

  PrepareOptions stopped = options("stopped", files);
  stopped.threads = 3;
  int runs = 0;
  for (bool finished = false; !finished; ++runs) {
    stop_ = false;
    finished = prepare(stopped, tokenizer_, stop_, [&](const PrepareProgress&) { stop_ = true; }).finished;
    EXPECT_EQ(fs::exists(folder_.path() / "stopped.bin"), finished);
    EXPECT_EQ(fs::exists(folder_.path() / "stopped.prepare.json"), !finished);
    stopped.threads = 1 + runs % 4;
  }
  EXPECT_GT(runs, 5);
  EXPECT_TRUE(written("one") == written("stopped"));
  EXPECT_TRUE(run(stopped).found_whole);
}

TEST_F(PrepareTest, ObjectsAreReadAndWhatIsBadIsNamedOrCounted) {
  const auto file = write("a.jsonl",
                          "{\"id\": 1, \"text\": \"w1 w2\\nw3\"}\n\n{\"text\": \"\"}\n{\"text\": 5}\nnone\n"
                          "{\"text\": \"w\xFF\"}\n{\"text\": \"w9\"}\n");
  PrepareOptions wanted = options("made", {file});
  wanted.rules = {DocumentForm::objects, SequenceForm::lines, "text"};
  EXPECT_THAT([&] { run(wanted); },
              ThrowsMessage<BadData>(HasSubstr("a.jsonl:4: the object has no text \"text\"")));
  EXPECT_FALSE(fs::exists(folder_.path() / "made.bin"));
  wanted.skip_bad = true;
  const PrepareReport report = run(wanted).report;
  EXPECT_EQ(report.data.documents, 2);
  EXPECT_EQ(report.data.sequences, 3);
  const auto skipped = [&](SkipReason reason) { return report.skipped[static_cast<std::size_t>(reason)]; };
  EXPECT_EQ(skipped(SkipReason::empty).count, 1);
  EXPECT_EQ(skipped(SkipReason::no_field).count, 1);
  EXPECT_EQ(skipped(SkipReason::no_json).count, 2);
  EXPECT_THAT(skipped(SkipReason::no_json).first,
              ElementsAre(HasSubstr("a.jsonl:5: "), HasSubstr("a.jsonl:6: ")));
}

TEST_F(PrepareTest, TextThatIsNoUtf8IsNamedByItsLine) {
  const auto file = write("a.txt", "w1\n\nw2\nw3 \xC3\n\nw4\n");
  EXPECT_THAT([&] { run(options("made", {file})); },
              ThrowsMessage<BadData>(HasSubstr("a.txt:4: the text is not UTF-8")));
  PrepareOptions wanted = options("made", {file});
  wanted.skip_bad = true;
  EXPECT_EQ(run(wanted).report.data.documents, 2);
}

TEST_F(PrepareTest, AChangedFileOrOtherOptionsDoNotContinueARun) {
  const auto file = write("a.txt", made_up_text(3000, 1));
  PrepareOptions wanted = options("made", {file});
  prepare(wanted, tokenizer_, stop_, [&](const PrepareProgress&) { stop_ = true; });
  stop_ = false;
  wanted.rules.sequences = SequenceForm::documents;
  EXPECT_THAT([&] { run(wanted); }, ThrowsMessage<Failure>(HasSubstr("was begun with other files")));
  wanted.rules.sequences = SequenceForm::lines;
  write("a.txt", "w1\n");
  EXPECT_THAT([&] { run(wanted); }, ThrowsMessage<Failure>(HasSubstr("was begun with other files")));
  wanted.restart = true;
  EXPECT_EQ(run(wanted).report.tokens, 1);
  EXPECT_EQ(run(wanted).report.tokens, 1) << "also over what is whole";
  wanted.restart = false;
  write("a.txt", "w1 w2\n");
  EXPECT_THAT([&] { run(wanted); }, ThrowsMessage<Failure>(HasSubstr("made.bin exists")));
}

TEST_F(PrepareTest, NothingIsWrittenOverThatNoPrepareWrote) {
  const auto text = write("a.txt", "w1\n"), objects = write("web.json", "{\"text\": \"w1\"}\n"),
             data = write("d.bin", "w2\n");
  const auto mine = write("e.json", "{\"mine\": 1}\n"), journal = write("f.prepare.json", "[1]\n");
  write("d.idx", "mine");
  const std::vector<std::pair<PrepareOptions, const char*>> refused{
      {options("web", {objects}), "web.json is to be read, and --out would write it"},
      {options("d", {data}), "d.bin is to be read"},
      {options("e", {text}), "e.json was not written by podium-worker prepare"},
      {options("f", {text}), "f.prepare.json was not written by"}};
  for (auto [wanted, why] : refused) {
    for (const bool restart : {false, true}) {
      wanted.restart = restart;
      EXPECT_THAT([&] { run(wanted); }, ThrowsMessage<Failure>(HasSubstr(why)));
    }
  }
  PrepareOptions over_data = options("d", {text});
  over_data.restart = true;
  EXPECT_THAT([&] { run(over_data); }, ThrowsMessage<Failure>(HasSubstr("d.bin was not written by")));
  EXPECT_EQ(read_file(objects), "{\"text\": \"w1\"}\n");
  EXPECT_EQ(read_file(data) + read_file(mine) + read_file(journal), "w2\n{\"mine\": 1}\n[1]\n");
}

TEST_F(PrepareTest, WhatIsWholeStaysUntilARestartIsThrough) {
  run(options("made", {write("a.txt", "w1\n\nw2\n")}));
  const std::string before = written("made");
  PrepareOptions again = options("made", {write("bad.txt", "\xC3\n")});
  again.restart = true;
  EXPECT_THROW(run(again), BadData);
  EXPECT_EQ(written("made"), before);

  again.files = {write("b.txt", made_up_text(3000, 1))};
  EXPECT_FALSE(prepare(again, tokenizer_, stop_, [&](const PrepareProgress&) { stop_ = true; }).finished);
  EXPECT_EQ(written("made"), before);
  stop_ = false;
  again.restart = false;
  EXPECT_TRUE(run(again).finished);
  PrepareOptions anew = options("anew", again.files);
  run(anew);
  EXPECT_EQ(written("made"), written("anew"));
}

TEST_F(PrepareTest, AFolderIsReadWithoutPreparedDataAndOnceWhereLinksLoop) {
  const fs::path folder = folder_.path() / "texts";
  fs::create_directories(folder / "more");
  write("texts/a.txt", "w1\n");
  write("texts/more/b.json", "w2\n");
  write("texts/c.bin", "w3\n");
  for (const char* name : {"made.bin", "made.idx", "made.json", "begun.bin.part", "begun.prepare.json"})
    write(std::string("texts/") + name, "x");
  fs::create_directory_symlink(folder, folder / "more" / "back");
  EXPECT_THAT(expand_inputs({folder.string()}, folder_.path() / "out"),
              ElementsAre(folder / "a.txt", folder / "c.bin", folder / "more" / "b.json"));
  fs::create_symlink("me", folder / "me");
  EXPECT_THAT([&] { expand_inputs({folder.string()}, folder_.path() / "out"); },
              ThrowsMessage<BadData>(HasSubstr("cannot read " + (folder / "me").string())));
}

TEST_F(PrepareTest, PartsAreTheWholeInOrder) {
  std::vector<fs::path> files;
  for (int i = 0; i < 9; ++i)
    files.push_back(write("t" + std::to_string(i), made_up_text(10 + 30 * (i % 4), 1)));
  for (const int count : {1, 2, 3, 20}) {
    std::vector<fs::path> together;
    std::uint64_t most = 0;
    for (int part = 0; part < count; ++part) {
      const auto share = share_of(files, {part, count});
      together.insert(together.end(), share.begin(), share.end());
      most = std::max(most, bytes_of(share));
    }
    EXPECT_EQ(together, files) << count;
    if (count == 2) {
      EXPECT_LT(most, bytes_of(files) * 2 / 3);
    }
  }
}

TEST_F(PrepareTest, AStopIsSeenOnTheWayToWhereARunGoesOn) {
  const std::string text = made_up_text(8000, 1);
  const fs::path file = folder_.path() / "a.gz";
  gzFile packed = gzopen(file.c_str(), "wb");
  gzwrite(packed, text.data(), static_cast<unsigned>(text.size()));
  gzclose(packed);
  prepare(options("made", {file}), tokenizer_, stop_, [&](const PrepareProgress&) { stop_ = true; });
  const std::string journal = read_file(folder_.path() / "made.prepare.json");
  bool worked = false;
  EXPECT_FALSE(prepare(options("made", {file}), tokenizer_, stop_, [&](const PrepareProgress&) {
                 worked = true;
               }).finished);
  EXPECT_FALSE(worked);
  EXPECT_EQ(read_file(folder_.path() / "made.prepare.json"), journal);
  stop_ = false;
  EXPECT_TRUE(run(options("made", {file})).finished);
}

TEST_F(PrepareTest, PartsAreReadTogetherWhereTheyAreOfOneListAndAllThere) {
  std::vector<fs::path> files{write("t0", made_up_text(10, 1)), write("t1", made_up_text(10, 2))};
  const auto prepare_part = [&](int number) {
    PrepareOptions wanted =
        options("made-0000" + std::to_string(number) + "-of-00002", share_of(files, {number, 2}));
    wanted.part = {number, 2};
    wanted.list_identity = list_identity_of(files);
    wanted.restart = true;
    run(wanted);
  };
  const auto found = [&](const std::vector<std::string>& names) {
    return data_files(names, folder_.path()).size();
  };
  prepare_part(0);
  EXPECT_THAT([&] { found({"made-*"}); }, ThrowsMessage<BadData>(HasSubstr("part 1 of ")));
  EXPECT_EQ(found({"made-00000-of-00002"}), 1u);
  prepare_part(1);
  EXPECT_EQ(found({"made-*"}), 2u);
  files.push_back(write("t2", made_up_text(1, 3)));
  prepare_part(0);
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"made-*.bin"}, {"made-00000-of-00002", "made-00001-of-00002.bin"}})
    EXPECT_THAT([&] { found(names); }, ThrowsMessage<BadData>(HasSubstr("parts of different lists")));
  prepare_part(1);
  EXPECT_EQ(found({"made-*.bin"}), 2u);
}

TEST_F(PrepareTest, FoldersAndGlobsAreFiles) {
  fs::create_directories(folder_.path() / "in/deep");
  fs::create_directories(folder_.path() / "in/.git");
  for (const char* name : {"in/b.txt", "in/a.txt", "in/deep/c.txt", "in/.hidden", "in/.git/x"})
    write(name, "w1\n");
  const std::string in = (folder_.path() / "in").string();
  EXPECT_THAT(expand_inputs({in + "/b.txt", in, in + "/*.txt"}, "made"),
              ElementsAre(in + "/b.txt", in + "/a.txt", in + "/deep/c.txt"));
  EXPECT_THAT([&] { expand_inputs({in + "/none*"}, "made"); }, ThrowsMessage<BadData>(HasSubstr("none*")));
}

TEST_F(PrepareTest, WhatARunWritesIsNoInputOfIt) {
  fs::create_directories(folder_.path() / "in/deep");
  const std::string in = (folder_.path() / "in").string();
  for (const std::string name : {"all", "all-00000-of-00002"})
    for (const char* ending : {".bin", ".idx", ".json", ".prepare.json", ".bin.part", ".idx.part",
                               ".lengths.part", ".documents.part", ".prepare.json.tmp.12", ".json.tmp.12"})
      write("in/" + name + ending, "own");
  EXPECT_THAT([&] { expand_inputs({in}, in + "/all"); },
              ThrowsMessage<BadData>(HasSubstr("nothing to prepare")));
  for (const char* name : {"in/all.txt", "in/all2.bin", "in/deep/all.bin", "in/all-00001-of-00002.json"})
    write(name, "w1\n");
  const auto expected =
      ElementsAre(in + "/all-00001-of-00002.json", in + "/all.txt", in + "/all2.bin", in + "/deep/all.bin");
  EXPECT_THAT(expand_inputs({in}, in + "/all"), expected);
  EXPECT_THAT(expand_inputs({in + "/*"}, in + "/deep/../all"), expected);
}

// Megatron-LM's own output for the same text and vocabulary, byte for byte: the fixture's tokens are decoded
// and prepared again.
TEST_F(PrepareTest, GivesTheFixtureOfMegatronFromItsText) {
  const auto fixture = shared_data("megatron_indexed/meg-gpt2-openwebtext_text_document.bin");
  if (!fixture) GTEST_SKIP() << "skipped: no shared data";
  const BpeTokenizer tokenizer(BpeVocabulary::load(*shared_data("vocab/gpt2-tiny-vocab.json"),
                                                   *shared_data("vocab/gpt2-tiny-merges.txt")));
  const MegatronData data(*fixture);
  const std::vector<std::int32_t> ids = all_tokens(data, tokenizer.size());
  std::string objects;
  for (std::int64_t i = 0, begin = 0; i < data.sequences(); begin += data.sequence_length(i++)) {
    const auto document = std::span(ids).subspan(static_cast<std::size_t>(begin),
                                                 static_cast<std::size_t>(data.sequence_length(i)) - 1);
    objects += nlohmann::json{{"text", tokenizer.vocabulary().decode(document)}}.dump() + "\n";
  }
  PrepareOptions wanted = options("made", {write("web.jsonl", objects)});
  wanted.rules = {DocumentForm::objects, SequenceForm::documents, "text",
                  tokenizer.vocabulary().end_of_text()};
  wanted.threads = 2;
  run(wanted, tokenizer);
  for (const char* suffix : {".bin", ".idx"})
    EXPECT_TRUE(read_file(folder_.path() / (std::string("made") + suffix)) ==
                read_file(fs::path(*fixture).replace_extension(suffix)))
        << suffix;
}

}  // namespace
}  // namespace podium
