// A model cut into tensor and pipeline ranks over two nodes, killed in the middle, trains as if it had not
// been.
#include <gtest/gtest.h>

#include <csignal>

#include "common/base/file.h"
#include "tests/cluster.h"
#include "tests/faults/observed_job.h"
#include "tests/faults/training_job.h"
#include "tests/worker/tokenizer/byte_vocabulary.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr int kSteps = 200;

// Two slots a node: tensor ranks share a node, stages do not.
std::string gpt_spec(const std::string& name) {
  return "version: 1\nname: " + name + R"(
model: {family: gpt, layers: 4, hidden: 32, heads: 2, max_positions: 32}
data: {train: corpus.txt, tokenizer: {bpe: {vocab: vocab.json, merges: merges.txt}}}
training:
  task: lm
  precision: fp32
  optimizer: {name: adamw, lr: 1.0e-3}
  schedule: {steps: )" +
         std::to_string(kSteps) + R"(, warmup: 10, decay: linear}
  batch: {global: 8, micro: 4}
  sequence_length: 32
  log_every: 1 step
parallel: {tensor: 2, pipeline: 2}
resources: {devices: 4, per_node: 2, kind: cpu, walltime: 10m}
checkpoint: {every: 10 steps, keep: 2}
)";
}

TEST(Parallel, AKilledRankEndsWithTheWeightsOfAnUnbrokenRun) {
  const Cluster cluster(2, 2);
  write_training_data(cluster.data());
  const std::vector<std::string> merges{"Ġ s"};
  write_file_atomic(cluster.data() / "vocab.json", byte_ids(merges).dump());
  write_file_atomic(cluster.data() / "merges.txt", merges.front() + "\n");
  const JobId unbroken = cluster.submit(gpt_spec("unbroken"));
  cluster.wait_for_state(unbroken, "succeeded");

  const JobId broken = cluster.submit(gpt_spec("broken"));
  const std::map<int, pid_t> pids = workers(wait_for_step(cluster, broken, 25));
  ASSERT_EQ(pids.size(), 4u);
  ASSERT_EQ(::kill(pids.at(3), SIGKILL), 0);  // of the last stage, on the second node
  const json ended = cluster.wait_for_state(broken, "succeeded");

  ASSERT_EQ(ended.at("attempts").size(), 2u) << ended.dump(1);
  EXPECT_EQ(ended.at("attempts")[0].at("end"), "failed");
  EXPECT_GT(ended.at("attempts")[1].at("first_step"), 0) << "the second attempt began from nothing";
  const auto weights = checkpoint_tensors(cluster, broken, kSteps);
  EXPECT_EQ(weights.size(), 4u);
  EXPECT_TRUE(weights == checkpoint_tensors(cluster, unbroken, kSteps)) << "the weights differ";
  const auto losses = recorded(cluster, broken, "train/loss");
  EXPECT_EQ(losses.size(), static_cast<std::size_t>(kSteps));
  EXPECT_EQ(losses, recorded(cluster, unbroken, "train/loss"));
}

}  // namespace
}  // namespace podium
