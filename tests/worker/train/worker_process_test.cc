// What real worker processes promise: the same training whatever the layout and however often it is
// interrupted.
#include <gmock/gmock.h>

#include <csignal>

#include "tests/worker/train/worker_job.h"
#include "worker/train/checkpoint.h"

namespace podium {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr std::int64_t kSteps = 102;  // not a multiple of the checkpoint interval

class OnRanks : public testing::TestWithParam<int> {};

TEST_P(OnRanks, AKilledRunResumesToTheBit) {
  const int size = GetParam();
  WorkerJob unbroken(tiny_job(kSteps));
  ASSERT_THAT(unbroken.run(size), Each(0)) << unbroken.errors();
  EXPECT_EQ(unbroken.last_status(), "succeeded");

  WorkerJob broken(tiny_job(kSteps));
  for (const std::int64_t step : {3, 12, 23}) {  // before the first checkpoint, between two, far on
    broken.start(size);
    ASSERT_TRUE(broken.wait_for_step(step)) << broken.errors();
    for (int rank = 0; rank < size; ++rank) broken.rank(rank).signal(SIGKILL);
    EXPECT_THAT(broken.wait(), Each(-SIGKILL));
  }
  ASSERT_THAT(broken.run(size), Each(0)) << broken.errors();
  EXPECT_EQ(broken.tensors(kSteps), unbroken.tensors(kSteps));
  EXPECT_EQ(broken.metric("train/loss"), unbroken.metric("train/loss"));
  EXPECT_EQ(broken.metric("eval/mlm_loss"), unbroken.metric("eval/mlm_loss"));
}

TEST_P(OnRanks, SigtermSavesAndTheNextAttemptGoesOnFromThere) {
  const int size = GetParam();
  WorkerJob unbroken(tiny_job(kSteps));
  ASSERT_THAT(unbroken.run(size), Each(0)) << unbroken.errors();

  JobSpec spec = tiny_job(kSteps);
  spec.checkpoint.every = 0;  // so that only SIGTERM saves
  WorkerJob stopped(spec);
  stopped.start(size);
  ASSERT_TRUE(stopped.wait_for_step(4)) << stopped.errors();
  stopped.rank(size - 1).signal(SIGTERM);  // one rank is told, all leave together
  ASSERT_THAT(stopped.wait(), Each(0));
  for (int rank = 0; rank < size; ++rank) EXPECT_EQ(stopped.last_status(rank), "preempted");
  const std::int64_t step = stopped.metric("train/loss").rbegin()->first;
  EXPECT_LT(step, kSteps);
  EXPECT_THAT(list_checkpoints(stopped.checkpoints()), testing::SizeIs(1));

  ASSERT_THAT(stopped.run(size), Each(0)) << stopped.errors();
  EXPECT_EQ(stopped.last_status(), "succeeded");
  EXPECT_EQ(stopped.metric("train/loss"), unbroken.metric("train/loss"));
  EXPECT_EQ(stopped.tensors(kSteps), unbroken.tensors(kSteps));
}

INSTANTIATE_TEST_SUITE_P(Sizes, OnRanks, testing::Values(1, 2));

TEST(Worker, OneTwoAndFourProcessesTrainTheSame) {
  WorkerJob one(tiny_job(12));
  ASSERT_THAT(one.run(1), Each(0)) << one.errors();
  for (const int size : {2, 4}) {
    WorkerJob several(tiny_job(12));
    ASSERT_THAT(several.run(size), Each(0)) << several.errors();
    for (const char* key : {"train/loss", "train/mlm_loss", "train/nsp_loss", "train/grad_norm",
                            "eval/mlm_loss", "eval/unigram_loss", "eval/gain_over_unigram"}) {
      const auto expected = one.metric(key);
      const auto found = several.metric(key);
      ASSERT_FALSE(expected.empty()) << key;
      ASSERT_EQ(found.size(), expected.size()) << key;
      for (const auto& [step, value] : expected)
        EXPECT_NEAR(found.at(step), value, 2e-5 * std::max(1.0, std::abs(value)))
            << key << " at step " << step;
    }
  }
}

TEST(Worker, AnotherNumberOfRanksCanResume) {
  JobSpec spec = tiny_job(10);
  WorkerJob one(spec);
  ASSERT_THAT(one.run(1), Each(0)) << one.errors();
  WorkerJob changing(spec);
  changing.start(2);
  ASSERT_TRUE(changing.wait_for_step(6)) << changing.errors();
  for (int rank = 0; rank < 2; ++rank) changing.rank(rank).signal(SIGKILL);
  changing.wait();
  ASSERT_THAT(changing.run(1), Each(0)) << changing.errors();
  EXPECT_NEAR(changing.metric("eval/mlm_loss").at(10), one.metric("eval/mlm_loss").at(10), 1e-4);
}

TEST(Worker, ItLearnsWordOrderAndStopsAtTheTarget) {
  JobSpec spec = tiny_job(2000);
  spec.training.optimizer.lr = 5e-3;
  spec.training.batch = {32, 32};
  spec.training.log_every = 20;
  spec.model.dropout = spec.model.attention_dropout = 0;
  spec.evaluate.every = 20;
  spec.checkpoint.every = 0;
  spec.target = TargetSpec{"eval/gain_over_unigram", 0.2, std::nullopt};
  WorkerJob job(spec);
  ASSERT_THAT(job.run(1), Each(0)) << job.errors();
  EXPECT_EQ(job.last_status(), "succeeded");
  const auto gains = job.metric("eval/gain_over_unigram");
  EXPECT_GE(gains.rbegin()->second, 0.2);
  EXPECT_LT(gains.rbegin()->first, 2000);
  const auto all = job.events();
  const auto target = std::find_if(all.begin(), all.end(), [](const WorkerEvent& event) {
    return std::holds_alternative<TargetEvent>(event.body);
  });
  ASSERT_NE(target, all.end());
  EXPECT_EQ(std::get<TargetEvent>(target->body).step, gains.rbegin()->first);

  ASSERT_THAT(job.run(1), Each(0)) << "a run that has reached its target has nothing left to do";
  EXPECT_EQ(job.metric("eval/gain_over_unigram"), gains);
  EXPECT_EQ(job.last_status(), "succeeded");
}

TEST(Worker, EventsTellTheWholeStory) {
  WorkerJob job(tiny_job(10));
  ASSERT_THAT(job.run(2), Each(0)) << job.errors();
  std::vector<std::string> story;
  for (const WorkerEvent& event : job.events()) story.push_back(to_json(event).at("type"));
  const std::vector<std::string> five(5, "metrics");
  std::vector<std::string> expected{"started"};
  expected.insert(expected.end(), five.begin(), five.end());
  expected.push_back("checkpoint");
  expected.insert(expected.end(), five.begin(), five.end());
  expected.insert(expected.end(),
                  {"metrics", "checkpoint", "finished"});  // the evaluation comes before the save
  EXPECT_EQ(story, expected);
  std::vector<std::string> other;
  for (const WorkerEvent& event : job.events(1)) other.push_back(to_json(event).at("type"));
  EXPECT_THAT(other, ElementsAre("started", "finished"));
}

}  // namespace
}  // namespace podium
