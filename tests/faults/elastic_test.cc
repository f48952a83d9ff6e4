// An elastic job that grows when a node joins and shrinks for another job, with real daemons and real
// training, learns what one that never changed its size learns.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cluster.h"
#include "tests/faults/observed_job.h"
#include "tests/faults/training_job.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr int kSteps = 1500;

std::string spec(const std::string& name, int steps, const std::string& devices) {
  return "version: 1\nname: " + name + R"(
model: {family: bert, layers: 2, hidden: 64, heads: 2, intermediate: 256, max_positions: 32}
data: {train: corpus.txt, tokenizer: {wordpiece: vocab.txt}}
training:
  task: pretrain
  precision: fp32
  optimizer: {name: adamw, lr: 1.0e-3}
  schedule: {steps: )" +
         std::to_string(steps) + R"(, warmup: 10, decay: linear}
  batch: {global: 32, micro: 16}
  sequence_length: 32
  log_every: 1 step
resources: {devices: )" +
         devices + R"(, per_node: 1, kind: cpu, walltime: 2h}
checkpoint: {every: 20 steps, keep: 2}
)";
}

std::size_t attempts(const json& job) { return job.at("attempts").size(); }
std::size_t devices_of(const json& job, std::size_t attempt) {
  return job.at("attempts").at(attempt).at("tasks").size();
}

TEST(Elastic, AJobThatGrowsAndShrinksLearnsWhatOneThatDoesNotLearns) {
  Cluster cluster(1, 1, {"--resize-after", "1s"});
  write_training_data(cluster.data());
  const JobId elastic = cluster.submit(spec("elastic", kSteps, "{min: 1, max: 2}"));
  wait_for_step(cluster, elastic, 25);
  cluster.start_agent(2);
  cluster.wait_for(elastic,
                   [](const json& job) { return attempts(job) == 2 && job.at("state") == "running"; });
  const JobId other = cluster.submit(spec("other", 20, "1"));
  cluster.wait_for_state(other, "succeeded");
  const json ended = cluster.wait_for_state(elastic, "succeeded");

  ASSERT_GE(attempts(ended), 3u) << ended.dump(1);
  EXPECT_EQ(devices_of(ended, 0), 1u);
  EXPECT_EQ(devices_of(ended, 1), 2u);
  EXPECT_EQ(devices_of(ended, 2), 1u);
  EXPECT_EQ(ended.at("attempts")[0].at("end"), "resized");
  EXPECT_EQ(ended.at("attempts")[0].at("reason"), "grew from 1 to 2 devices");
  EXPECT_EQ(ended.at("attempts")[1].at("reason"), "shrank from 2 to 1 device for job " + to_string(other));
  EXPECT_EQ(ended.at("sizes"), json({1, 2}));

  const JobId steady = cluster.submit(spec("steady", kSteps, "1"));
  cluster.wait_for_state(steady, "succeeded");
  const auto losses = recorded(cluster, elastic, "train/loss");
  const auto expected = recorded(cluster, steady, "train/loss");
  ASSERT_EQ(losses.size(), static_cast<std::size_t>(kSteps)) << "every step once, whatever its size";
  ASSERT_EQ(expected.size(), losses.size());
  for (const auto& [step, loss] : expected)
    ASSERT_NEAR(losses.at(step), loss, 1e-3 * loss) << "at step " << step << ": not the same batch";
}

}  // namespace
}  // namespace podium
