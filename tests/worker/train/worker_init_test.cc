// Whole jobs that begin with the weights of another's checkpoint: on another layout, killed in between,
// refused.
#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>

#include "common/base/file.h"
#include "tests/worker/train/worker_job.h"
#include "worker/checkpoint/reader.h"
#include "worker/checkpoint/weights.h"

namespace podium {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

// Every parameter of a checkpoint, whole.
std::vector<FullTensor> weights_of(const std::filesystem::path& checkpoint) {
  const CheckpointManifest manifest = read_whole_checkpoint(checkpoint);
  return read_full_weights(checkpoint, manifest, model_of(manifest));
}

void expect_same(const std::vector<FullTensor>& a, const std::vector<FullTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].values == b[i].values) << a[i].name;
}

std::vector<Origin> origins_told(const WorkerJob& job) {
  std::vector<Origin> told;
  for (const WorkerEvent& event : job.events())
    if (const auto* started = std::get_if<StartedEvent>(&event.body))
      told.push_back(started->origin.value_or(Origin{}));
  return told;
}

std::vector<CheckpointEvent> saves_told(const WorkerJob& job) {
  std::vector<CheckpointEvent> told;
  for (const WorkerEvent& event : job.events())
    if (const auto* saved = std::get_if<CheckpointEvent>(&event.body)) told.push_back(*saved);
  return told;
}

class WorkerInit : public testing::Test {
 protected:
  WorkerInit() : trained_(tiny_job(5)) { EXPECT_THAT(trained_.run(1), Each(0)) << trained_.errors(); }

  // A job that takes the trained weights, at half the length.
  JobSpec next(std::int64_t steps) const {
    JobSpec spec = tiny_job(steps);
    spec.name = "next";
    spec.model.init = trained_.checkpoints();
    spec.training.sequence_length = 16;
    return spec;
  }
  std::string refusal(const JobSpec& spec, int exit, const std::string& init_folder = "") {
    WorkerJob job(spec);
    job.launch.init_folder = init_folder;
    EXPECT_THAT(job.run(1), Each(exit));
    return job.errors();
  }

  WorkerJob trained_;
};

// Lets the broken run go on: both have begun with the same weights, and end with the same.
void expect_same_end(const WorkerJob& unbroken, WorkerJob& broken) {
  ASSERT_THAT(broken.run(1), Each(0)) << broken.errors();
  expect_same(weights_of(unbroken.checkpoints() / "step-00000060"),
              weights_of(broken.checkpoints() / "step-00000060"));
  const std::vector<Origin> told = origins_told(broken);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].step, 5);
  EXPECT_TRUE(told[0].known());
  EXPECT_EQ(told[1], told[0]);
}

// A step without a learning rate leaves the weights as they were taken.
TEST_F(WorkerInit, AnyLayoutBeginsWithTheWeightsOfASingleRankToTheBit) {
  JobSpec spec = next(1);
  spec.training.optimizer.lr = 0;
  spec.training.optimizer.weight_decay = 0;
  WorkerJob job(spec);
  ASSERT_THAT(job.run(layout_of_name("tensor2_data2")), Each(0)) << job.errors();
  expect_same(weights_of(trained_.checkpoints() / "step-00000005"),
              weights_of(job.checkpoints() / "step-00000001"));
}

TEST_F(WorkerInit, ARunThatIsKilledGoesOnAndKeepsItsOrigin) {
  WorkerJob unbroken(next(60)), broken(next(60));
  ASSERT_THAT(unbroken.run(1), Each(0)) << unbroken.errors();
  broken.start(1);
  ASSERT_TRUE(broken.wait_for_step(7));
  while (!std::filesystem::exists(broken.checkpoints() / "step-00000005"))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ::kill(broken.rank(0).pid(), SIGKILL);
  broken.wait();
  std::filesystem::remove_all(trained_.checkpoints());  // who goes on has weights of its own
  expect_same_end(unbroken, broken);
}

// Another run's checkpoint becomes the newest there meanwhile.
TEST_F(WorkerInit, ARunThatIsKilledBeforeItHasACheckpointBeginsWithTheSameWeightsAgain) {
  JobSpec spec = next(60);
  spec.checkpoint.every = 100;
  WorkerJob unbroken(spec), broken(spec), other(tiny_job(10));
  ASSERT_THAT(unbroken.run(1), Each(0)) << unbroken.errors();
  ASSERT_THAT(other.run(1), Each(0)) << other.errors();
  broken.start(1);
  ASSERT_TRUE(broken.wait_for_step(3));
  ::kill(broken.rank(0).pid(), SIGKILL);
  broken.wait();
  ASSERT_FALSE(std::filesystem::exists(broken.checkpoints() / "step-00000060")) << "it was through";
  std::filesystem::rename(other.checkpoints() / "step-00000010", trained_.checkpoints() / "step-00000010");
  expect_same_end(unbroken, broken);
}

TEST_F(WorkerInit, ARunWhoseFirstWeightsAreGoneSaysSoAndTrainsOnNothingElse) {
  JobSpec spec = next(60);
  spec.checkpoint.every = 100;
  WorkerJob job(spec);
  job.start(1);
  ASSERT_TRUE(job.wait_for_step(3));
  ::kill(job.rank(0).pid(), SIGKILL);
  job.wait();
  std::filesystem::rename(trained_.checkpoints() / "step-00000005", trained_.checkpoints() / "step-00000007");
  EXPECT_THAT(job.run(1), Each(65));
  EXPECT_THAT(job.errors(), AllOf(HasSubstr("job \"next\" began with the weights of step 5 of"),
                                  HasSubstr("delete " + (job.checkpoints() / "origin.json").string())));
}

TEST_F(WorkerInit, TheVocabularyOfTheWeightsIsAskedFor) {
  JobSpec spec = next(1);
  WorkerJob job(spec);
  std::istringstream lines(read_file(job.data() / "vocab.txt"));
  std::vector<std::string> tokens;
  for (std::string token; std::getline(lines, token);) tokens.push_back(token);
  std::swap(tokens.at(tokens.size() - 1), tokens.at(tokens.size() - 2));
  std::string other;
  for (const std::string& token : tokens) other += token + "\n";
  write_file_atomic(job.data() / "other.txt", other);
  job.launch.spec.data.tokenizer.wordpiece = "other.txt";
  EXPECT_THAT(job.run(1), Each(64));
  EXPECT_THAT(job.errors(), AllOf(HasSubstr("they are for the tokens of vocab.txt"),
                                  HasSubstr("data.tokenizer has others in other.txt")));
}

TEST_F(WorkerInit, WhatCannotBeTakenIsRefusedByBothNames) {
  JobSpec spec = next(1);
  spec.model.intermediate = 128;
  EXPECT_THAT(refusal(spec, 64), AllOf(HasSubstr("job \"next\" cannot begin with the weights of " +
                                                 trained_.checkpoints().string()),
                                       HasSubstr("model.intermediate is 64 there and 128 here")));
  spec = next(1);
  spec.model.init.clear();
  spec.model.init_job = JobCheckpoint{{12}};
  EXPECT_THAT(refusal(spec, 64), HasSubstr("\"model.init\" names a job of a cluster"));
  EXPECT_THAT(refusal(spec, 64, trained_.data()),
              HasSubstr("job \"next\" cannot begin with the weights of job 12: " + trained_.data().string() +
                        " holds no checkpoint"));
  spec = next(1);
  spec.model.init = trained_.data();
  EXPECT_THAT(refusal(spec, 65), HasSubstr("is neither a Hugging Face folder"));
  std::filesystem::remove(trained_.checkpoints() / "step-00000005" / "rank-00000.safetensors");
  EXPECT_THAT(refusal(next(1), 65), HasSubstr("none of the 1 checkpoints in"));
}

TEST_F(WorkerInit, TheBestCheckpointIsKeptByAWholeJob) {
  JobSpec spec = next(12);
  spec.evaluate.every = 4;
  spec.checkpoint = {100, 1};
  spec.checkpoint.best = "eval/mlm_loss";
  WorkerJob job(spec);
  ASSERT_THAT(job.run(1), Each(0)) << job.errors();
  const auto losses = job.metric("eval/mlm_loss");
  const auto best = std::ranges::min_element(losses, {}, &std::pair<const std::int64_t, double>::second);
  const CheckpointState newest = read_whole_checkpoint(job.checkpoints() / "step-00000012").state;
  EXPECT_EQ(newest.best, (BestCheckpoint{"eval/mlm_loss", best->first, best->second}));
  EXPECT_NO_THROW(read_whole_checkpoint(job.checkpoints() / checkpoint_name(best->first)));
  spec.checkpoint.best = "eval/no-such";
  EXPECT_THAT(refusal(spec, 64), HasSubstr("podium-worker has no metric \"eval/no-such\""));
}

// The process dies when its best checkpoint is whole and nobody has heard of it.
TEST(WorkerBest, OneThatAnAttemptDidNotLiveToTellOfIsToldByTheNext) {
  JobSpec spec = tiny_job(60);
  spec.training.batch = {32, 2};  // long steps, between which it tells
  spec.evaluate.every = 2;
  spec.checkpoint = {100, 1};
  spec.checkpoint.best = "eval/mlm_loss";
  for (int tries = 0; tries < 20; ++tries) {
    WorkerJob job(spec);
    job.start(1);
    while (!std::filesystem::exists(job.checkpoints()) || checkpoints_in(job.checkpoints()).empty())
      ASSERT_TRUE(job.rank(0).running()) << job.errors();
    ::kill(job.rank(0).pid(), SIGKILL);
    job.wait();
    const std::int64_t step = step_of(checkpoints_in(job.checkpoints()).front());
    if (!saves_told(job).empty()) continue;  // it was quicker
    ASSERT_THAT(job.run(1), Each(0)) << job.errors();
    const CheckpointEvent told = saves_told(job).at(0);
    EXPECT_TRUE(told.again);
    EXPECT_EQ(told.step, step);
    EXPECT_EQ(told.path, checkpoint_name(step));
    EXPECT_GT(told.bytes, 0);
    EXPECT_EQ(told.best, (BestValue{"eval/mlm_loss", job.metric("eval/mlm_loss").at(step)}));
    return;
  }
  FAIL() << "it always told in time";
}

}  // namespace
}  // namespace podium
