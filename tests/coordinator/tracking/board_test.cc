// What a benchmark is, which runs may hold a record, and how records fall.
#include "coordinator/tracking/board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace podium {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

json identity(const json& model, const json& target) {
  return {{"task", "pretrain"}, {"model", model}, {"data", {{"train", {"a.txt"}}}}, {"target", target}};
}

const json kBert{{"family", "bert"}, {"preset", "bert-large"}, {"layers", 24}, {"hidden", 1024}};

BoardRun run(std::int64_t job, std::int64_t start, std::int64_t seconds, const std::string& device = "H200",
             int devices = 8) {
  const Time started = from_millis(1000 * start);
  return {{job},
          {devices},
          {device},
          false,
          std::vector<JobId>{},
          started,
          started + std::chrono::seconds(seconds)};
}

TEST(Benchmarks, AreNamedByModelTaskAndTarget) {
  const json accuracy{{"metric", "eval/mlm_accuracy"}, {"at_least", 0.72}};
  EXPECT_EQ(benchmark_name(identity(kBert, accuracy)),
            "bert-large pretrain, eval/mlm_accuracy at least 0.72");
  EXPECT_THAT(benchmark_id(identity(kBert, accuracy)),
              ::testing::MatchesRegex("bert-large-pretrain-mlm_accuracy-[0-9a-f]{16}"));
  const json shape{{"family", "gpt"}, {"layers", 2}, {"hidden", 128}};
  EXPECT_EQ(benchmark_name(identity(shape, {{"metric", "eval/loss"}, {"at_most", 3}})),
            "gpt-2x128 pretrain, eval/loss at most 3");
}

TEST(Benchmarks, OfProgramsAreTheirCommands) {
  const json program{{"command", {"/usr/bin/torchrun", "src/Pretrain GPT.py", "--lr={lr}"}},
                     {"target", {{"metric", "loss"}, {"at_most", 2.5}}}};
  EXPECT_EQ(benchmark_name(program), "torchrun Pretrain GPT.py, loss at most 2.5");
  EXPECT_THAT(benchmark_id(program), ::testing::StartsWith("torchrun-pretrain-gpt.py-loss-"));
}

// Links to a benchmark must live: this id was made once and is the same for ever.
TEST(Benchmarks, KeepTheirIds) {
  const json target{{"metric", "eval/mlm_accuracy"}, {"at_least", 0.72}};
  const std::string id = benchmark_id(identity(kBert, target));
  EXPECT_EQ(id, "bert-large-pretrain-mlm_accuracy-11eef30a96e8ab36");
  json other = target;
  other["at_least"] = 0.71;
  EXPECT_NE(benchmark_id(identity(kBert, other)), id);
}

TEST(Records, AreExcludedForEachReasonOnItsOwn) {
  EXPECT_THAT(exclusions(run(1, 0, 10)), IsEmpty());
  BoardRun bad = run(1, 0, 10);
  bad.artificial = true;
  EXPECT_THAT(exclusions(bad), ElementsAre("it ran on devices that were made up"));
  bad = run(1, 0, 10);
  bad.device_models = {};
  EXPECT_THAT(exclusions(bad), ElementsAre("which devices it ran on was not recorded"));
  bad.device_models = {"A100", "H200"};
  EXPECT_THAT(exclusions(bad), ElementsAre("it ran on devices of several kinds: A100 and H200"));
  bad = run(1, 0, 10);
  bad.devices = {4, 8};
  EXPECT_THAT(exclusions(bad), ElementsAre("it did not run on one number of devices: 4 and 8"));
  bad = run(1, 0, 10);
  bad.shared_with = std::nullopt;
  EXPECT_THAT(exclusions(bad), ElementsAre("whether it shared its nodes was not recorded"));
  bad.shared_with = {{2}, {3}, {4}, {5}};
  bad.artificial = true;
  bad.clock_steps = {std::chrono::minutes(90) + std::chrono::milliseconds(3), -std::chrono::seconds(5)};
  EXPECT_THAT(exclusions(bad), ElementsAre("it ran on devices that were made up",
                                           "it shared nodes with jobs 2, 3, 4 and 1 more",
                                           "the cluster's clock was set forward by 1h30m while it ran",
                                           "the cluster's clock was set back by 5s while it ran"));
}

TEST(Records, FallByDeviceAndNumber) {
  std::vector<BoardRun> runs{
      run(1, 0, 100),       run(2, 50, 90), run(3, 200, 90), run(4, 300, 60), run(5, 0, 10, "H200", 16),
      run(6, 0, 70, "A100")};
  runs.push_back(run(7, 400, 1));
  runs.back().artificial = true;
  const std::vector<BoardClass> classes = board_classes(runs);
  ASSERT_EQ(classes.size(), 3u);
  EXPECT_EQ(classes[0].device, "A100");
  EXPECT_EQ(classes[1].devices, 8);
  EXPECT_EQ(classes[2].devices, 16);
  const std::vector<BoardRecord>& records = classes[1].records;
  ASSERT_EQ(records.size(), 3u) << "of two that are equally fast the earlier holds it";
  EXPECT_EQ(records[0].job, JobId{1});
  EXPECT_FALSE(records[0].improvement);
  EXPECT_EQ(records[1].job, JobId{2});
  EXPECT_DOUBLE_EQ(records[1].improvement.value(), 0.1);
  EXPECT_EQ(records[2].job, JobId{4});
  EXPECT_DOUBLE_EQ(records[2].seconds, 60);
}

// The last record is the least time of all, and every record is less than all runs before it.
TEST(Records, AreTheRunningLeastOfAnyRuns) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    std::vector<BoardRun> runs;
    for (int i = 1; i <= 40; ++i) runs.push_back(run(i, random() % 1000, 1 + random() % 50));
    const std::vector<BoardClass> classes = board_classes(runs);
    ASSERT_EQ(classes.size(), 1u);
    std::size_t told = 0;
    for (const BoardRun& each : runs) {
      const bool beaten = std::ranges::any_of(runs, [&each](const BoardRun& other) {
        const bool before = std::pair(other.reached, other.job) < std::pair(each.reached, each.job);
        return before && other.seconds() <= each.seconds();
      });
      const bool holds =
          std::ranges::find(classes[0].records, each.job, &BoardRecord::job) != classes[0].records.end();
      EXPECT_EQ(holds, !beaten) << "seed " << seed << ", job " << each.job.value;
      told += holds ? 1 : 0;
    }
    EXPECT_EQ(classes[0].records.size(), told);
  }
}

}  // namespace
}  // namespace podium
