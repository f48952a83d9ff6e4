// A scaling study on a real cluster: two sizes, one at a time. Its table is computed anew from what the jobs'
// series say.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cluster.h"
#include "tests/faults/training_job.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr char kSpec[] = R"(
version: 1
name: tiny-study
model: {family: bert, layers: 2, hidden: 64, heads: 2, intermediate: 256, max_positions: 32}
data: {train: corpus.txt, tokenizer: {wordpiece: vocab.txt}}
training:
  task: pretrain
  precision: fp32
  optimizer: {name: adamw, lr: 1.0e-3}
  schedule: {steps: 60}
  batch: {global: 16, micro: 8}
  sequence_length: 32
  log_every: 2 steps
evaluate: {every: 20 steps, data: heldout.txt, sequences: 16}
resources: {devices: 1, kind: cpu, walltime: 10m}
scaling: {devices: [2, 1], mode: strong, together: false}
)";

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Of the points after the first tenth of the 60 steps.
double steady_median(const Cluster& cluster, std::int64_t job, const std::string& key) {
  const json answer = cluster.get("/jobs/" + std::to_string(job) + "/series?points=20000&key=" + key);
  std::vector<double> values;
  for (const json& point : answer.at("series").at(0).at("points"))
    if (point.at(0) > 6) values.push_back(point.at(2));
  EXPECT_EQ(values.size(), 27u) << "every second step from 8 to 60";
  return median(values);
}

TEST(Study, SaysWhatTheSeriesOfItsJobsSay) {
  const Cluster cluster(1, 2);
  write_training_data(cluster.data());
  const JobId first = cluster.submit(kSpec);
  const JobId second{first.value + 1};
  const json two = cluster.wait_for_state(second, "succeeded");
  const json one = cluster.get("/jobs/" + to_string(first));
  EXPECT_EQ(one.at("devices"), 1) << "the smallest goes first";
  EXPECT_LE(one.at("ended_ms"), two.at("started_ms")) << "one at a time";

  const json study = cluster.get("/studies/" + one.at("experiment").dump());
  EXPECT_EQ(study.at("state"), "succeeded");
  EXPECT_EQ(study.at("warnings"), json::array()) << "nothing else ran there";
  const json& rows = study.at("tables").at(0).at("rows");
  ASSERT_EQ(rows.size(), 2u) << study.dump(1);
  std::vector<double> rates, seconds;
  for (const json& row : rows) {
    const std::int64_t job = row.at("jobs").at(0);
    rates.push_back(steady_median(cluster, job, "train/sequences_per_second"));
    const json told = cluster.get("/jobs/" + std::to_string(job));
    seconds.push_back((told.at("ended_ms").get<double>() - told.at("started_ms").get<double>()) / 1000);
    EXPECT_DOUBLE_EQ(row.at("samples_per_second").at("median"), rates.back());
    EXPECT_DOUBLE_EQ(row.at("tokens_per_second").at("median"),
                     steady_median(cluster, job, "train/tokens_per_second"));
    EXPECT_DOUBLE_EQ(row.at("time_to_train_seconds"), seconds.back());
    EXPECT_EQ(row.at("samples_to_target"), 60 * 16);
    EXPECT_NEAR(row.at("stepping_share"), 60 * 16 / (rates.back() * seconds.back()), 1e-9);
    EXPECT_LT(row.at("stepping_share"), 1) << "it also started, loaded and evaluated";
  }
  EXPECT_NEAR(rows.at(1).at("efficiency"), rates[1] / 2 / rates[0], 1e-9);
  EXPECT_NEAR(rows.at(1).at("speed_up"), rates[1] / rates[0], 1e-9);
  const json& time = rows.at(1).at("time_efficiency");
  EXPECT_NEAR(time.at("efficiency"), seconds[0] / (2 * seconds[1]), 1e-9);
  EXPECT_NEAR(time.at("throughput").get<double>() * time.at("samples").get<double>() *
                  time.at("stepping").get<double>(),
              time.at("efficiency"), 1e-9);
}

}  // namespace
}  // namespace podium
