#include "common/mlperf/run_log.h"

#include <gmock/gmock.h>

namespace podium::mlperf {
namespace {

using testing::ElementsAre;

Line told(const char* key, nlohmann::json metadata = nlohmann::json::object()) {
  return {0, 0, kPoint, key, nullptr, std::move(metadata)};
}

std::vector<Line> run() {
  return {told("init_start"),
          told("run_start"),
          told("block_start", {{"epoch_count", 1}}),
          told("eval_start", {{"epoch_num", 10}}),
          told("eval_stop", {{"epoch_num", 10}}),
          told("eval_accuracy", {{"epoch_num", 10}}),
          told("eval_start", {{"epoch_num", 20}}),
          told("eval_accuracy", {{"epoch_num", 20}})};
}

std::vector<std::string> kept(std::vector<Line> lines, std::int64_t samples) {
  std::vector<std::string> keys;
  for (const Line& line : kept_lines(std::move(lines), samples)) keys.push_back(line.key);
  return keys;
}

TEST(MlperfRunLog, WhatIsTrainedAgainIsToldAgain) {
  EXPECT_EQ(kept(run(), 20).size(), 8u);
  EXPECT_EQ(kept(run(), 19).size(), 6u);
  EXPECT_EQ(kept(run(), 10).size(), 6u);
  EXPECT_THAT(kept(run(), 9), ElementsAre("init_start", "run_start", "block_start"));
}

TEST(MlperfRunLog, TheEndOfTheTrainingIsToldOnce) {
  std::vector<Line> cut = run();
  cut.push_back(told("block_stop"));
  cut.push_back(told("train_samples"));
  EXPECT_EQ(kept(cut, 20).size(), 8u);  // it died before run_stop
  cut.push_back(told("run_stop"));
  EXPECT_EQ(kept(cut, 0).size(), 11u);
  std::vector<Line> other = run();
  other.push_back(told("epoch_stop"));
  EXPECT_EQ(kept(other, 20).size(), 8u);
}

TEST(MlperfRunLog, KnowsWhetherTheClockRuns) {
  EXPECT_FALSE(has_started({told("init_start")}));
  EXPECT_TRUE(has_started(run()));
  EXPECT_FALSE(has_ended(run()));
  EXPECT_TRUE(has_ended({told("run_stop")}));
}

}  // namespace
}  // namespace podium::mlperf
