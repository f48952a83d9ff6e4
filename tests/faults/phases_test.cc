// A job of two phases on a cluster: short sequences in large batches, then long ones in smaller batches.
#include <gtest/gtest.h>

#include "tests/cluster.h"
#include "tests/faults/observed_job.h"
#include "tests/faults/training_job.h"

namespace podium {
namespace {

constexpr char kSpec[] = R"(
version: 1
name: phases
model: {family: bert, layers: 2, hidden: 64, heads: 2, intermediate: 256, max_positions: 32}
data: {train: corpus.txt, tokenizer: {wordpiece: vocab.txt}}
training:
  task: pretrain
  precision: fp32
  optimizer: {name: adamw, lr: 1.0e-3}
  schedule: {steps: 40, warmup: 10, decay: linear}
  batch: {global: 32, micro: 16}
  sequence_length: 16
  log_every: 1 step
  phases:
    - sequence_length: 32
      optimizer: {lr: 5.0e-4}
      schedule: {steps: 30, warmup: 5}
      batch: {global: 16, micro: 8}
resources: {devices: 2, per_node: 1, kind: cpu, walltime: 10m}
checkpoint: {every: 50 steps, keep: 2}
)";

TEST(Phases, AJobGoesThroughBoth) {
  const Cluster cluster(2);
  write_training_data(cluster.data());
  const JobId job = cluster.submit(kSpec);
  const nlohmann::json ended = cluster.wait_for_state(job, "succeeded");
  EXPECT_EQ(ended.at("attempts").size(), 1u) << ended.dump(1);

  const auto rates = recorded(cluster, job, "train/learning_rate");
  const auto tokens = recorded(cluster, job, "train/tokens_per_second");
  const auto sequences = recorded(cluster, job, "train/sequences_per_second");
  ASSERT_EQ(rates.size(), 70u);
  EXPECT_DOUBLE_EQ(rates.at(10), 1e-3) << "the first phase's peak";
  EXPECT_DOUBLE_EQ(rates.at(41), 5e-4 / 5) << "the second phase warms up anew";
  EXPECT_DOUBLE_EQ(rates.at(45), 5e-4) << "the second phase's peak";
  for (int step = 1; step <= 70; ++step)
    EXPECT_NEAR(tokens.at(step) / sequences.at(step), step <= 40 ? 16 : 32, 1e-9) << "at step " << step;

  const nlohmann::json manifest = checkpoint_manifest(cluster, job, 70);
  EXPECT_EQ(manifest.at("phase"), 1) << "the second, counted from 0";
  EXPECT_EQ(manifest.at("samples"), 40 * 32 + 30 * 16);
}

}  // namespace
}  // namespace podium
