// What real worker processes promise: the same training whatever the layout and however often it is
// interrupted.
#include <gmock/gmock.h>

#include <csignal>

#include "common/base/file.h"
#include "tests/worker/train/worker_job.h"
#include "worker/checkpoint/manifest.h"

namespace podium {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Optional;
using testing::Pair;

constexpr std::int64_t kSteps = 102;  // not a multiple of the checkpoint interval

class OnLayout : public testing::TestWithParam<std::string> {
 protected:
  static JobSpec job() {
    JobSpec spec = tiny_job(kSteps);
    spec.model.layers = 2;
    return spec;
  }
  const JobLayout layout_ = layout_of_name(GetParam());
};

// Killed before the first checkpoint, between two and far on, it ends as a run that was not.
void expect_to_resume(const JobSpec& job, const JobLayout& layout) {
  WorkerJob unbroken(job);
  ASSERT_THAT(unbroken.run(layout), Each(0)) << unbroken.errors();
  EXPECT_EQ(unbroken.last_status(), "succeeded");

  WorkerJob broken(job);
  for (const std::int64_t step : {3, 12, 23}) {
    broken.start(layout);
    ASSERT_TRUE(broken.wait_for_step(step)) << broken.errors();
    for (int rank = 0; rank < layout.processes; ++rank) broken.rank(rank).signal(SIGKILL);
    EXPECT_THAT(broken.wait(), Each(-SIGKILL));
  }
  ASSERT_THAT(broken.run(layout), Each(0)) << broken.errors();
  EXPECT_EQ(broken.tensors(kSteps), unbroken.tensors(kSteps));
  EXPECT_EQ(broken.metric("train/loss"), unbroken.metric("train/loss"));
  for (const char* held_out : {"eval/mlm_loss", "eval/loss"})
    EXPECT_EQ(broken.metric(held_out), unbroken.metric(held_out));
}

TEST_P(OnLayout, AKilledRunResumesToTheBit) { expect_to_resume(job(), layout_); }

// fp16 also skips the steps that overflow.
TEST(InFewerBits, AKilledRunResumesToTheBit) {
  JobSpec spec = tiny_job(kSteps);
  spec.training.precision = Precision::fp16;
  spec.training.fp8 = true;
  spec.training.stochastic_rounding = true;
  expect_to_resume(spec, layout_of_name("tensor2"));
}

// Ranges and pruned weights come back, also where each rank has but a part of the products.
class Compressed : public testing::TestWithParam<std::string> {};

TEST_P(Compressed, AKilledRunResumesToTheBit) {
  JobSpec spec = tiny_job(kSteps);
  spec.model.layers = 2;
  spec.training.quantise = QuantiseSpec{};
  spec.training.sparse = Sparsity::two_of_four;
  expect_to_resume(spec, layout_of_name(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Layouts, Compressed, testing::Values("data1", "tensor2_sequence_data2_distributed"),
                         [](const auto& instance) { return instance.param; });

// The head's own weight is on another stage than the word embeddings.
TEST(AllOfLlama, AKilledRunResumesToTheBit) {
  JobSpec spec = tiny_llama_job(kSteps);
  spec.model.layers = 2;
  spec.training.precision = Precision::bf16;
  expect_to_resume(spec, layout_of_name("tensor2_pipeline2"));
}

TEST_P(OnLayout, SigtermSavesAndTheNextAttemptGoesOnFromThere) {
  const int size = layout_.processes;
  WorkerJob unbroken(job());
  ASSERT_THAT(unbroken.run(layout_), Each(0)) << unbroken.errors();

  JobSpec spec = job();
  spec.checkpoint.every = 0;  // so that only SIGTERM saves
  WorkerJob stopped(spec);
  stopped.start(layout_);
  ASSERT_TRUE(stopped.wait_for_step(4)) << stopped.errors();
  stopped.rank(size - 1).signal(SIGTERM);  // one rank is told, all leave together
  ASSERT_THAT(stopped.wait(), Each(static_cast<int>(WorkerExit::saved)));
  for (int rank = 0; rank < size; ++rank) EXPECT_EQ(stopped.last_status(rank), "preempted");
  const std::int64_t step = stopped.metric("train/loss").rbegin()->first;
  EXPECT_LT(step, kSteps);
  EXPECT_THAT(checkpoints_in(stopped.checkpoints()), testing::SizeIs(1));

  ASSERT_THAT(stopped.run(layout_), Each(0)) << stopped.errors();
  EXPECT_EQ(stopped.last_status(), "succeeded");
  EXPECT_EQ(stopped.metric("train/loss"), unbroken.metric("train/loss"));
  EXPECT_EQ(stopped.tensors(kSteps), unbroken.tensors(kSteps));
}

std::string name_of(const testing::TestParamInfo<std::string>& layout) { return layout.param; }

INSTANTIATE_TEST_SUITE_P(Layouts, OnLayout,
                         testing::Values("data1", "data2_distributed", "tensor2_pipeline2"), name_of);

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

// "resume: {job: 12}" as a process meets it: another job's folder, which is only read.
TEST(Worker, ANewJobGoesOnFromAnothersEndToTheBit) {
  const auto of_steps = [](std::int64_t steps) {
    JobSpec spec = tiny_job(steps);
    spec.training.schedule.decay = Decay::constant;  // so that fewer steps are the beginning of more
    return spec;
  };
  WorkerJob unbroken(of_steps(20)), first(of_steps(10));
  ASSERT_THAT(unbroken.run(2), Each(0)) << unbroken.errors();
  ASSERT_THAT(first.run(2), Each(0)) << first.errors();
  const auto resuming = [&](std::int64_t steps) {
    auto job = std::make_unique<WorkerJob>(of_steps(steps));
    job->launch.spec.resume = JobId{12};
    job->launch.resume_folder = first.checkpoints();
    return job;
  };

  const auto second = resuming(20);
  ASSERT_THAT(second->run(2), Each(0)) << second->errors();
  EXPECT_EQ(second->tensors(20), unbroken.tensors(20));
  EXPECT_EQ(second->metric("train/loss").begin()->first, 11);
  EXPECT_THAT(checkpoints_in(first.checkpoints()), ElementsAre("step-00000010", "step-00000005"));
  ASSERT_THAT(second->run(2), Each(0)) << "it goes on from its own, where nothing is left to do";
  EXPECT_EQ(second->tensors(20), unbroken.tensors(20));

  const auto idle = resuming(10);
  EXPECT_THAT(idle->run(2), Each(static_cast<int>(WorkerExit::bad_spec))) << "it succeeded without a step";
  EXPECT_THAT(idle->errors(), testing::HasSubstr("raise training.schedule.steps"));
}

TEST(Worker, EveryRankTellsTheTextThatItsCheckpointsAreOf) {
  WorkerJob job(tiny_job(5));
  ASSERT_THAT(job.run(2), Each(0)) << job.errors();
  const auto manifest =
      nlohmann::json::parse(read_file(job.checkpoints() / "step-00000005" / "manifest.json"));
  for (const int rank : {0, 1}) {
    int starts = 0;
    for (const WorkerEvent& event : job.events(rank)) {
      const auto* started = std::get_if<StartedEvent>(&event.body);
      if (!started) continue;
      ++starts;
      ASSERT_TRUE(started->text);
      EXPECT_GT(started->text->sentences, 0);
      EXPECT_EQ(to_json(*started->text), manifest.at("text"));
    }
    EXPECT_EQ(starts, 1);
  }
}

TEST(Worker, EventsTellTheWholeStory) {
  WorkerJob job(tiny_job(10));
  ASSERT_THAT(job.run(2), Each(0)) << job.errors();
  std::vector<std::string> story;
  std::vector<std::pair<WorkerPhase, std::optional<std::int64_t>>> phases;
  std::vector<std::int64_t> saved;
  for (const WorkerEvent& event : job.events()) {
    if (const auto* checkpoint = std::get_if<CheckpointEvent>(&event.body))
      saved.push_back(checkpoint->step);  // told when it is whole, some steps later
    else if (const auto* phase = std::get_if<PhaseEvent>(&event.body))
      phases.emplace_back(phase->phase, phase->step);
    else
      story.push_back(to_json(event).at("type"));
  }
  std::vector<std::string> expected(11, "metrics");  // of ten steps and one evaluation
  expected.insert(expected.begin(), "started");
  expected.push_back("finished");
  EXPECT_EQ(story, expected);
  EXPECT_THAT(saved, ElementsAre(5, 10));
  using enum WorkerPhase;
  ASSERT_GT(phases.size(), 2u);
  EXPECT_EQ(phases[0].first, rendezvous);
  EXPECT_EQ(phases[1].first, loading);
  for (const auto& [phase, step] :
       {std::pair(stepping, 0), {checkpointing, 5}, {stepping, 5}, {evaluating, 10}, {checkpointing, 10}})
    EXPECT_THAT(phases, Contains(Pair(phase, Optional(step)))) << to_string(phase) << " at step " << step;
  std::vector<std::string> other;
  for (const WorkerEvent& event : job.events(1)) other.push_back(to_json(event).at("type"));
  EXPECT_THAT(other, ElementsAre("started", "finished"));
}

}  // namespace
}  // namespace podium
