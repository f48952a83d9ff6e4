#include "worker/tasks/pretraining/pretraining_text.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/temp_folder.h"
#include "worker/nn/pretraining_head.h"

namespace podium {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// What is said about text that a job trains on and evaluates on.
class WarningsOfText : public testing::Test {
 protected:
  WarningsOfText() {
    write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n");
    write("corpus.txt", "a b\nb a\n\na\nb\n");
    write("heldout.txt", "a\nb\n");
    spec_.data = {{"corpus.txt"}, {"vocab.txt", true, "", ""}};
    spec_.evaluate = {10, "heldout.txt", 32};
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name) << text;
  }
  std::vector<std::string> warnings() const {
    Reading reading;
    read_pretraining_text(spec_, folder_.path(), reading);
    return reading.warnings();
  }

  TempFolder folder_;
  JobSpec spec_;
};

TEST_F(WarningsOfText, NoneWhereNothingIsWrong) { EXPECT_THAT(warnings(), IsEmpty()); }

// Every pair of such a document is a random one, and nobody was told.
TEST_F(WarningsOfText, DocumentsOfOneLineAreCounted) {
  std::string lines;
  for (int i = 0; i < 9; ++i) lines += "a b a b\n\n";
  write("corpus.txt", lines + "a\nb\n");
  EXPECT_THAT(warnings(), ElementsAre(AllOf(HasSubstr("data.train"), HasSubstr("9 of 10 documents"),
                                            HasSubstr("one sentence a line"))));
}

TEST_F(WarningsOfText, AFewDocumentsOfOneLineAreNothingToSpeakOf) {
  std::string text = "a\n\n";
  for (int i = 0; i < 9; ++i) text += "a b\nb\n\n";
  write("corpus.txt", text);
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(WarningsOfText, HeldOutTextWithinTheTrainingPatternIsNamed) {
  spec_.data.train = {"*.txt"};
  spec_.data.tokenizer.wordpiece = "vocab";
  std::filesystem::rename(folder_.path() / "vocab.txt", folder_.path() / "vocab");
  EXPECT_THAT(warnings(), ElementsAre(AllOf(HasSubstr("heldout.txt"), HasSubstr("also among data.train"))));
  spec_.evaluate.every = 0;  // then nobody reads it as held-out text
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(WarningsOfText, HeldOutTextUnderAnotherNameIsFoundToo) {
  std::filesystem::create_symlink("corpus.txt", folder_.path() / "other.txt");
  spec_.evaluate.data = "other.txt";
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("other.txt")));
}

TEST(PretrainingText, CollatePadsAndFlattens) {
  PretrainingSample first{{2, 10, 3, 11, 3}, 3, {{1, 3}, {20, 21}}, true};
  PretrainingSample second{{2, 12, 3, 13, 14, 3}, 3, {{4}, {22}}, false};
  const MicroBatch batch = collate({first, second}, 8, 0);
  EXPECT_EQ(batch.sequences, 2);
  EXPECT_EQ(batch.input_ids,
            (std::vector<std::int32_t>{2, 10, 3, 11, 3, 0, 0, 0, 2, 12, 3, 13, 14, 3, 0, 0}));
  EXPECT_EQ(batch.token_types, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(batch.valid_lengths, (std::vector<std::int32_t>{5, 6}));
  EXPECT_EQ(batch.targets[kLanguageTerm].positions, (std::vector<std::int32_t>{1, 3, 12}));
  EXPECT_EQ(batch.targets[kLanguageTerm].labels, (std::vector<std::int32_t>{20, 21, 22}));
  EXPECT_EQ(batch.targets[kNextSentenceTerm].labels, (std::vector<std::int32_t>{1, 0}));
}

}  // namespace
}  // namespace podium
