// A small BERT that is measured as MLPerf measures, on two nodes, and loses a worker: its result file has one
// run, with the time that it took.
#include <gmock/gmock.h>
#include <signal.h>

#include "common/mlperf/score.h"
#include "common/net/http_client.h"
#include "tests/cluster.h"
#include "tests/faults/observed_job.h"
#include "tests/faults/training_job.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::ElementsAre;

constexpr int kBatch = 6144;  // evaluated every 200,000 samples: 33 steps

const char* kSpec = R"(version: 1
name: measured
model: {family: bert, layers: 1, hidden: 16, heads: 1, intermediate: 16, max_positions: 8}
data: {train: corpus.txt, tokenizer: {wordpiece: vocab.txt}}
training:
  optimizer: {name: lamb, lr: 1.0e-3}
  schedule: {steps: 99}
  batch: {global: 6144, micro: 512}
  sequence_length: 8
  log_every: 1 step
resources: {devices: 2, per_node: 1, kind: cpu, walltime: 10m}
checkpoint: {every: 10 steps}
evaluate: {data: heldout.txt, sequences: 100}
target: {metric: eval/mlm_accuracy, at_least: 0.0}
mlperf: {benchmark: bert, division: open, organisation: ACME}
)";

std::string result_of(const Cluster& cluster, JobId job) {
  const HttpResponse reply = fetch(cluster.server(), {.target = "/api/v1/jobs/" + to_string(job) + "/mlperf"},
                                   std::chrono::seconds(10));
  return reply.ok() ? reply.body : "";
}

mlperf::Log whole_result(const Cluster& cluster, JobId job) {
  for (int tries = 0;; ++tries) {
    mlperf::Log log = mlperf::read_log(result_of(cluster, job));
    if (log.first("run_stop") != nullptr || tries == 100) return log;
    usleep(100'000);
  }
}

TEST(Mlperf, TheResultOfATrainingThatWasKilledHoldsToTheRulesButForTheTarget) {
  Cluster cluster(2);
  write_training_data(cluster.data());
  const JobId job = cluster.submit(kSpec);
  const json running = wait_for_step(cluster, job, 14);
  ASSERT_EQ(::kill(workers(running).at(1), SIGKILL), 0);
  const json ended = cluster.wait_for_state(job, "succeeded");
  ASSERT_EQ(ended.at("attempts").size(), 2u) << ended.dump(1);
  const mlperf::Log log = whole_result(cluster, job);
  std::vector<std::string> rules;
  for (const mlperf::Finding& finding : check(log, mlperf::kUsualRound)) rules.push_back(finding.rule);
  EXPECT_THAT(rules, ElementsAre("target"));
  EXPECT_EQ(log.all("init_start").size(), 2u);
  EXPECT_EQ(log.first("eval_accuracy")->number_in("epoch_num"), 33 * kBatch);

  // The clock began before the worker was killed, and stopped at the target, as Podium's own did.
  const auto run = mlperf::run_of(log, "result", mlperf::kUsualRound);
  ASSERT_TRUE(run.ok()) << describe(run.errors());
  const json& killed = ended.at("attempts").at(0);
  EXPECT_LT(log.first("run_start")->time_ms, killed.at("ended_ms").get<std::int64_t>());
  EXPECT_GE(log.first("run_start")->time_ms, killed.at("created_ms").get<std::int64_t>());
  EXPECT_LE(run->seconds, ended.at("time_to_train_seconds").get<double>() + 0.1);
  EXPECT_GT(run->seconds * 1000,
            static_cast<double>(killed.at("ended_ms").get<std::int64_t>() - log.first("run_start")->time_ms));
}

}  // namespace
}  // namespace podium
