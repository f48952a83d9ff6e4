#include "worker/tasks/pretraining/pretraining_text.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/temp_folder.h"
#include "worker/nn/pretraining_head.h"
#include "worker/tasks/pretraining/pretraining_task.h"

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

TEST(PretrainingTask, ABlendTakesSamplesOfEachByItsWeight) {
  const TempFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.path() / name) << text;
  };
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\n");
  write("first.txt", "a b a\nb\na\n\nb b\na b\n");
  write("second.txt", "c d\nd\n\nc c c\nd c\nc\n");
  JobSpec spec;
  spec.data.tokenizer.wordpiece = "vocab.txt";
  spec.training.sequence_length = 16;
  spec.training.batch = {.global = 1, .micro = 1};
  const auto samples = [&](const std::vector<std::string>& train, const std::vector<double>& weights,
                           std::int64_t first, int count) {
    spec.data.train = train;
    spec.data.weights = weights;
    Reading reading;
    const auto task = pretraining_task_source(spec, folder.path(), reading, 0, 1).make(spec.training);
    task->start(first);
    std::vector<std::vector<std::int32_t>> ids;
    for (int i = 0; i < count; ++i) ids.push_back(task->next().micro_batches.front().input_ids);
    return ids;
  };
  const auto blended = samples({"first.txt", "second.txt"}, {2, 1}, 1, 60);
  const auto first = samples({"first.txt"}, {}, 1, 60);
  const auto second = samples({"second.txt"}, {}, 1, 60);
  EXPECT_NE(first, second);
  std::size_t of_first = 0;
  std::size_t of_second = 0;
  for (std::size_t i = 0; i < blended.size(); ++i) {
    // Two of the first for one of the second; which of three comes when is Megatron-LM's choice
    // (blend_test.cc).
    if (blended[i] == first[of_first]) {
      ++of_first;
    } else {
      ASSERT_EQ(blended[i], second[of_second++]) << i;
    }
  }
  EXPECT_EQ(of_first, 40u);
  EXPECT_EQ(samples({"first.txt", "second.txt"}, {2, 1}, 31, 30),
            std::vector(blended.begin() + 30, blended.end()))
      << "resumed";
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
