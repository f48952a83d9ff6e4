// Classification by real worker processes: it learns, and it resumes to the bit, on several layouts; and real
// reviews of films.
#include <gmock/gmock.h>

#include <csignal>

#include "common/base/file.h"
#include "tests/paths.h"
#include "tests/worker/shared_data.h"
#include "tests/worker/train/worker_job.h"

namespace podium {
namespace {

using testing::Each;
using testing::HasSubstr;

constexpr std::int64_t kSteps = 200;

// The class is the name of the one word that tells, among others that do not.
std::string labelled(int sentences, int seed) {
  const char* const kinds[] = {"red", "green", "blue"};
  std::string text = "sentence\tlabel\n";
  for (int i = 0; i < sentences; ++i) {
    const std::string kind = kinds[(i * 7 + seed) % 3];
    text += std::string(i % 2 == 0 ? "the road is " : "a ship was ") + kind + (i % 5 == 0 ? " here" : "") +
            "\t" + kind + "\n";
  }
  return text;
}

JobSpec colours() {
  JobSpec spec = tiny_job(kSteps);
  spec.training.task = TrainingTask::classify;
  spec.data = {{"train.tsv"}, {"colours.txt", true, "", ""}};
  spec.training.optimizer.lr = 5e-3;
  spec.training.sequence_length = 16;
  spec.model.layers = 2;
  spec.evaluate = {20, "held-out.tsv", 64};
  return spec;
}

void write_colours(const WorkerJob& job) {
  write_file_atomic(job.data() / "train.tsv", labelled(120, 0));
  write_file_atomic(job.data() / "held-out.tsv", labelled(50, 1));
  write_file_atomic(
      job.data() / "colours.txt",
      "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\na\nroad\nship\nis\nwas\nhere\nred\ngreen\nblue\n");
}

class ClassifyOn : public testing::TestWithParam<std::string> {};

TEST_P(ClassifyOn, ItLearnsAndAKilledRunResumesToTheBit) {
  const JobLayout layout = layout_of_name(GetParam());
  WorkerJob unbroken(colours());
  write_colours(unbroken);
  ASSERT_THAT(unbroken.run(layout), Each(0)) << unbroken.errors();
  EXPECT_EQ(unbroken.metric("eval/accuracy").at(kSteps), 1.0);
  EXPECT_LT(unbroken.metric("eval/majority_accuracy").at(kSteps), 0.5);
  EXPECT_LT(unbroken.metric("eval/loss").at(kSteps), 0.5 * unbroken.metric("train/loss").begin()->second);

  WorkerJob broken(colours());
  write_colours(broken);
  broken.start(layout);
  ASSERT_TRUE(broken.wait_for_step(83)) << broken.errors();
  for (int rank = 0; rank < layout.processes; ++rank) broken.rank(rank).signal(SIGKILL);
  broken.wait();
  ASSERT_THAT(broken.run(layout), Each(0)) << broken.errors();
  EXPECT_EQ(broken.tensors(kSteps), unbroken.tensors(kSteps));
  EXPECT_EQ(broken.metric("eval/loss"), unbroken.metric("eval/loss"));
}

INSTANTIATE_TEST_SUITE_P(Layouts, ClassifyOn,
                         testing::Values("data1", "data2", "tensor2_sequence", "pipeline2"),
                         [](const auto& tested) { return tested.param; });

TEST(ClassifyRefuses, ALabelThatTheTrainingTextDoesNotHave) {
  WorkerJob job(colours());
  write_colours(job);
  write_file_atomic(job.data() / "held-out.tsv", "sentence\tlabel\nthe road is red\tpurple\n");
  EXPECT_THAT(job.run(1), Each(static_cast<int>(WorkerExit::bad_data)));
  EXPECT_THAT(job.errors(), HasSubstr("held-out.tsv:2: the label \"purple\""));
}

TEST(ClassifyRefuses, ToExportAModelWhoseHeadHasNoFormYet) {
  JobSpec spec = colours();
  spec.training.schedule.steps = 6;
  WorkerJob job(spec);
  write_colours(job);
  ASSERT_THAT(job.run(1), Each(0)) << job.errors();
  const std::string checkpoint = (job.checkpoints() / "step-00000006").string();
  Child exporting(
      {test::program_path("podium-worker"), "export", checkpoint, "--out", (job.data() / "model").string()},
      job.data() / "log");
  EXPECT_EQ(exit_of(exporting), static_cast<int>(WorkerExit::bad_data));
  EXPECT_THAT(read_file(job.data() / "log"), HasSubstr("trained for classify"));
  EXPECT_FALSE(std::filesystem::exists(job.data() / "model"));
}

// Half of the reviews are good ones, so that guessing has 50 to 51 %.
TEST(ClassifyReviews, ASmallBertTellsGoodReviewsFromBadOnes) {
  const auto folder = shared_data("glue/sst2-sentences");
  const auto vocabulary = shared_data("vocab/bert-base-uncased-vocab.txt");
  if (!folder || !vocabulary) GTEST_SKIP() << "skipped: no shared data";
  JobSpec spec = colours();
  spec.model = {.layers = 2, .hidden = 64, .heads = 2, .intermediate = 128, .max_positions = 64};
  spec.training.schedule = {.steps = 300, .warmup = 0.1};
  spec.training.optimizer.lr = 1e-3;
  spec.training.batch = {32, 32};
  spec.training.sequence_length = 48;
  spec.checkpoint.every = 0;
  spec.evaluate = {300, "held-out.tsv", 1821};
  WorkerJob job(spec);
  for (const auto& [name, file] : {std::pair("train.tsv", "train.tsv"), {"held-out.tsv", "test.tsv"}})
    write_file_atomic(job.data() / name, "sentence\tlabel\n" + read_file(*folder / file));
  write_file_atomic(job.data() / "colours.txt", read_file(*vocabulary));
  ASSERT_THAT(job.run(1), Each(0)) << job.errors();
  EXPECT_GT(job.metric("eval/accuracy").at(300), job.metric("eval/majority_accuracy").at(300) + 0.15);
}

}  // namespace
}  // namespace podium
