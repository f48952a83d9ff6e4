// Classification by real worker processes: it learns, and it resumes to the bit, on several layouts; and real
// reviews of films.
#include <gmock/gmock.h>

#include <cmath>
#include <csignal>

#include "common/base/file.h"
#include "tests/worker/shared_data.h"
#include "tests/worker/tasks/classify_jobs.h"

namespace podium {
namespace {

using testing::Each;
using testing::HasSubstr;

// Kills a run of the same job on its way and starts it again: it ends as the unbroken one did.
void expect_resumed_to_the_bit(const WorkerJob& unbroken, WorkerJob& broken, const JobLayout& layout,
                               const std::string& metric) {
  broken.start(layout);
  ASSERT_TRUE(broken.wait_for_step(83)) << broken.errors();
  for (int rank = 0; rank < layout.processes; ++rank) broken.rank(rank).signal(SIGKILL);
  broken.wait();
  ASSERT_THAT(broken.run(layout), Each(0)) << broken.errors();
  EXPECT_EQ(broken.tensors(kSteps), unbroken.tensors(kSteps));
  EXPECT_EQ(broken.metric(metric), unbroken.metric(metric));
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
  expect_resumed_to_the_bit(unbroken, broken, layout, "eval/loss");
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

TEST(ClassifyRegression, ItLearnsAndAKilledRunResumesToTheBit) {
  WorkerJob unbroken(colour_counts(kSteps));
  write_counts(unbroken);
  const JobLayout layout = layout_of_name("data2");
  ASSERT_THAT(unbroken.run(layout), Each(0)) << unbroken.errors();
  EXPECT_GT(unbroken.metric("eval/pearson").at(kSteps), 0.9);
  EXPECT_GT(unbroken.metric("eval/spearman").at(kSteps), 0.85);
  EXPECT_LT(unbroken.metric("eval/loss").at(kSteps),
            0.3 * unbroken.metric("eval/mean_value_loss").at(kSteps));

  WorkerJob broken(colour_counts(kSteps));
  write_counts(broken);
  expect_resumed_to_the_bit(unbroken, broken, layout, "eval/spearman");
}

class ClassifyLayouts : public testing::TestWithParam<bool> {};

// With dropout before the classifier and, of classes, with weights.
TEST_P(ClassifyLayouts, AgreeToRounding) {
  constexpr std::int64_t kFew = 20;
  JobSpec spec = GetParam() ? colour_counts(kFew) : colours();
  spec.training.schedule.steps = kFew;
  spec.training.log_every = 5;
  if (!GetParam()) spec.training.classify.class_weights = {3, 0.5, 1};
  std::map<std::string, double> expected;
  for (const char* name : {"data1", "data2", "tensor2_sequence", "pipeline2"}) {
    WorkerJob job(spec);
    write_counts(job);
    ASSERT_THAT(job.run(layout_of_name(name)), Each(0)) << job.errors();
    for (const char* metric : {"train/loss", "eval/loss", GetParam() ? "eval/pearson" : "eval/f1"}) {
      const double found = job.metric(metric).at(kFew);
      const double first = expected.emplace(metric, found).first->second;
      EXPECT_NEAR(found, first, 1e-4 * std::abs(first)) << name << ": " << metric;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ClassifyLayouts, testing::Values(false, true),
                         [](const auto& tested) { return tested.param ? "values" : "classes"; });

TEST(ClassifyRefuses, WhatIsNoTableOrNumber) {
  JobSpec spec = colour_counts(4);
  WorkerJob job(spec);
  write_counts(job);
  const std::string good = read_file(job.data() / "train.csv");
  for (const auto& [broken, message] : {std::pair(good + "1,nan,a,b\n", "no finite number"),
                                        {good + "1,2,a\n", "has 3 columns"},
                                        {good + "1,2,\"a,b\n", "never closed"},
                                        {std::string("id,score\n"), "no column \"first\""},
                                        {std::string(), "no sentence"},
                                        {good + "1,2,\xff,b\n", "UTF-8"}}) {
    write_file_atomic(job.data() / "train.csv", broken);
    EXPECT_THAT(job.run(1), Each(static_cast<int>(WorkerExit::bad_data)));
    EXPECT_THAT(job.errors(), testing::AllOf(HasSubstr("train.csv"), HasSubstr(message)));
  }
}

// As it is upstream: no header, the sentence in the fourth column.
TEST(ClassifyShared, CoLALoadsUnchanged) {
  const auto folder = shared_data("glue/cola");
  const auto vocabulary = shared_data("vocab/bert-base-uncased-vocab.txt");
  if (!folder || !vocabulary) GTEST_SKIP() << "skipped: no shared data";
  JobSpec spec = colours();
  spec.training.schedule.steps = 2;
  spec.training.classify = {.header = false, .sentence = {.number = 4}, .label = {.number = 2}};
  spec.data = {{(*folder / "in_domain_train.tsv").string()}, {vocabulary->string(), true, "", ""}};
  spec.evaluate = {2, (*folder / "*_dev.tsv").string(), 2000};
  WorkerJob job(spec);
  ASSERT_THAT(job.run(1), Each(0)) << job.errors();
  EXPECT_NEAR(job.metric("eval/majority_accuracy").at(2), 719.0 / 1043, 1e-12);  // GLUE's development set
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
  spec.training.classify = {.header = false, .sentence = {.number = 1}, .label = {.number = 2}};
  spec.checkpoint.every = 0;
  spec.evaluate = {300, "held-out.tsv", 1821};
  WorkerJob job(spec);
  for (const auto& [name, file] : {std::pair("train.tsv", "train.tsv"), {"held-out.tsv", "test.tsv"}})
    write_file_atomic(job.data() / name, read_file(*folder / file));
  write_file_atomic(job.data() / "colours.txt", read_file(*vocabulary));
  ASSERT_THAT(job.run(1), Each(0)) << job.errors();
  EXPECT_GT(job.metric("eval/accuracy").at(300), job.metric("eval/majority_accuracy").at(300) + 0.15);
}

}  // namespace
}  // namespace podium
