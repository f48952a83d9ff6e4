// Every way to spread a job over processes trains the same model: losses and gradient norms of every family
// equal those of one process to fp32 rounding, with dropout on, and a run may go on in another layout than it
// began in.
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <map>

#include "tests/worker/train/worker_job.h"
#include "worker/checkpoint/manifest.h"
#include "worker/train/schedule.h"

namespace podium {
namespace {

using testing::Each;

constexpr double kTolerance = 1e-5;  // relative; an fp32 sum of thousands of terms in another order

using Series = std::map<std::int64_t, double>;

void expect_near(const Series& found, const Series& expected, const std::string& what) {
  ASSERT_FALSE(expected.empty()) << what;
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (const auto& [step, value] : expected)
    EXPECT_NEAR(found.at(step), value, kTolerance * std::max(1.0, std::abs(value)))
        << what << " at step " << step;
}

// Four layers, so that there is something to cut.
JobSpec job_of(ModelFamily family, std::int64_t steps) {
  JobSpec spec = family == ModelFamily::bert  ? tiny_job(steps)
                 : family == ModelFamily::gpt ? tiny_gpt_job(steps)
                                              : tiny_llama_job(steps);
  spec.model.layers = 4;
  return spec;
}

std::vector<std::string> metrics_of(ModelFamily family) {
  if (family != ModelFamily::bert)
    return {"train/loss", "train/grad_norm", "eval/loss", "eval/unigram_loss", "eval/accuracy"};
  return {"train/loss",    "train/mlm_loss",    "train/nsp_loss",    "train/grad_norm",
          "eval/mlm_loss", "eval/mlm_accuracy", "eval/unigram_loss", "eval/nsp_accuracy"};
}

std::map<std::string, Series> train(ModelFamily family, const std::string& layout) {
  WorkerJob job(job_of(family, 6));
  EXPECT_THAT(job.run(layout_of_name(layout)), Each(0)) << job.errors();
  std::map<std::string, Series> metrics;
  for (const std::string& key : metrics_of(family)) metrics[key] = job.metric(key);
  return metrics;
}

const std::map<std::string, Series>& train_alone(ModelFamily family) {
  static std::map<ModelFamily, std::map<std::string, Series>> done;
  if (!done.contains(family)) done[family] = train(family, "data1");
  return done.at(family);
}

class SameTraining : public testing::TestWithParam<std::tuple<ModelFamily, std::string>> {};

TEST_P(SameTraining, AsInOneProcess) {
  const auto& [family, layout] = GetParam();
  const auto& expected = train_alone(family);
  const auto found = train(family, layout);
  for (const std::string& key : metrics_of(family)) expect_near(found.at(key), expected.at(key), key);
}

std::string name_of(const testing::TestParamInfo<std::tuple<ModelFamily, std::string>>& info) {
  return std::string(to_string(std::get<0>(info.param))) + "_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, SameTraining,
    testing::Combine(testing::Values(ModelFamily::bert, ModelFamily::gpt, ModelFamily::llama),
                     testing::Values("data2", "data4_distributed", "tensor2", "tensor2_sequence", "pipeline2",
                                     "pipeline2_interleaved2", "tensor2_pipeline2")),
    name_of);
INSTANTIATE_TEST_SUITE_P(EightProcesses, SameTraining,
                         testing::Values(std::tuple(
                             ModelFamily::bert, std::string("tensor2_sequence_pipeline2_data2_distributed"))),
                         name_of);

// Rounded to 8 bits a value between two levels goes either way, so that losses agree to less than rounding.
TEST(Worker, ACompressedTrainingIsTheSameOnEveryLayout) {
  JobSpec spec = job_of(ModelFamily::bert, 6);
  spec.training.quantise = QuantiseSpec{};
  spec.training.sparse = Sparsity::two_of_four;
  const auto train = [&](const std::string& layout) {
    WorkerJob job(spec);
    EXPECT_THAT(job.run(layout_of_name(layout)), Each(0)) << job.errors();
    return std::pair(job.metric("train/loss"), read_manifest(job.checkpoints() / checkpoint_name(6)));
  };
  const auto [losses, manifest] = train("data1");
  ASSERT_EQ(losses.size(), 6U);
  for (const char* const layout : {"data2", "tensor2_sequence", "pipeline2_interleaved2"}) {
    const auto [found, state] = train(layout);
    for (const auto& [step, loss] : losses) EXPECT_NEAR(found.at(step), loss, 1e-3 * loss) << layout << step;
    for (const auto& [product, range] : manifest.state.quantised.ranges)
      EXPECT_NEAR(state.state.quantised.ranges.at(product), range, 1e-2 * range) << layout << " " << product;
  }
}

// Each of two stages holds two chunks of two layers, of which the first is run again.
TEST(Worker, RecomputingSomeLayersOfEachChunkLeavesTheSameCheckpoint) {
  JobSpec spec = job_of(ModelFamily::bert, 5);
  spec.model.layers = 8;
  const auto trained = [&](Recompute recompute, int layers) {
    spec.training.recompute = recompute;
    spec.training.recompute_layers = layers;
    WorkerJob job(spec);
    EXPECT_THAT(job.run(layout_of_name("pipeline2_interleaved2")), Each(0)) << job.errors();
    return job.tensors(5);
  };
  EXPECT_TRUE(trained(Recompute::none, 0) == trained(Recompute::full, 1));
}

// Stops a run on request in one layout after the other and compares all its losses with an unbroken one's.
void expect_the_same_through(const JobSpec& spec, const std::vector<std::string>& layouts) {
  WorkerJob unbroken(spec);
  ASSERT_THAT(unbroken.run(1), Each(0)) << unbroken.errors();
  WorkerJob changing(spec);
  for (const std::string& name : layouts) {
    const Series before = changing.metric("train/loss");
    changing.start(layout_of_name(name));
    ASSERT_TRUE(changing.wait_for_step(before.empty() ? 3 : before.rbegin()->first + 3)) << changing.errors();
    changing.rank(0).signal(SIGTERM);
    ASSERT_THAT(changing.wait(), Each(static_cast<int>(WorkerExit::saved))) << changing.errors();
    ASSERT_EQ(changing.last_status(), "preempted") << name << " was done before it was asked to stop";
  }
  ASSERT_THAT(changing.run(layout_of_name("data1")), Each(0)) << changing.errors();
  expect_near(changing.metric("train/loss"), unbroken.metric("train/loss"), "train/loss");
}

void expect_to_go_on_in_other_layouts(ModelFamily family) {
  JobSpec spec = job_of(family, 400);
  spec.training.optimizer.lr = 1e-4;
  spec.checkpoint.every = 0;
  spec.evaluate.every = 0;
  expect_the_same_through(spec, {"tensor2_pipeline2", "data2_distributed", "pipeline2_interleaved2"});
}

TEST(Worker, ARunGoesOnInAnotherLayout) { expect_to_go_on_in_other_layouts(ModelFamily::bert); }

// The head's own weight moves between stages.
TEST(Worker, ALlamaGoesOnInAnotherLayout) { expect_to_go_on_in_other_layouts(ModelFamily::llama); }

}  // namespace
}  // namespace podium
