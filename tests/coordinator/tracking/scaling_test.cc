#include "coordinator/tracking/scaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace podium {
namespace {

Series series_of(const std::vector<double>& values, std::int64_t every = 10) {
  Series series;
  for (std::size_t i = 0; i < values.size(); ++i)
    series.push_back({static_cast<std::int64_t>(i + 1) * every, from_millis(0), values[i]});
  return series;
}

ScalingRun run_of(std::int64_t job, int devices, const std::vector<double>& rates, double seconds = 0,
                  double samples = 0) {
  ScalingRun run;
  run.job = {job};
  run.state = JobState::succeeded;
  run.devices = devices;
  run.samples_rate = series_of(rates);
  if (seconds > 0) run.time_to_train_seconds = seconds;
  if (samples > 0) run.samples_to_target = samples;
  return run;
}

TEST(Quantile, LiesBetweenNeighbours) {
  EXPECT_EQ(quantile({7}, 0.25), 7);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.25), 1.75);
  EXPECT_EQ(quantile({5, 1, 3}, 1), 5);
}

TEST(SteadyRate, LeavesTheFirstTenthOfTheStepsOut) {
  // Of 100 steps the one at step 10 is within the first tenth.
  const auto rate = steady_rate({series_of({1, 9, 9, 9, 9, 9, 9, 9, 9, 9})});
  ASSERT_TRUE(rate);
  EXPECT_EQ(*rate, (SteadyRate{9, 9, 9, 9}));
}

TEST(SteadyRate, LeavesOutWhatIsNoRate) {
  const auto rate = steady_rate({series_of({0, std::nan(""), 4, INFINITY, -1, 6})});
  ASSERT_TRUE(rate);
  EXPECT_EQ(*rate, (SteadyRate{5, 4.5, 5.5, 2}));
  EXPECT_EQ(steady_rate({series_of({std::nan("")}), {}}), std::nullopt);
}

TEST(SteadyRate, TakesTheRunsOfASizeTogether) {
  const auto rate = steady_rate({series_of({1, 10, 10}, 5), series_of({30, 30, 40}, 5)});
  ASSERT_TRUE(rate);
  EXPECT_EQ(rate->points, 6);
  EXPECT_EQ(rate->median, 20);
}

TEST(Scaling, ComparesWithTheSmallestSize) {
  const ScalingTable table =
      scaling_table({run_of(3, 8, {1200}, 100, 90000), run_of(1, 2, {400}, 250, 90000), run_of(2, 4, {700})});
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.base, 2);
  EXPECT_EQ(table.rows[0].efficiency, 1);
  EXPECT_EQ(table.rows[1].devices, 4);
  EXPECT_EQ(table.rows[1].speed_up, 1.75);
  EXPECT_EQ(table.rows[1].efficiency, 0.875);
  EXPECT_EQ(table.rows[1].time_efficiency.has_value(), false);
  EXPECT_EQ(table.rows[2].per_device, 150);
  EXPECT_EQ(table.rows[2].stepping_share, 90000 / (1200 * 100.0));
  ASSERT_TRUE(table.rows[2].time_efficiency);
  EXPECT_DOUBLE_EQ(table.rows[2].time_efficiency->efficiency, 2 * 250.0 / (8 * 100));
  EXPECT_EQ(scaling_sentence(table), "8 devices: 75 % of linear from 2, 1m40s to train");
}

TEST(Scaling, TakesTheMedianOfASizesRuns) {
  const ScalingTable table = scaling_table({run_of(1, 1, {10}, 30, 100), run_of(2, 1, {12}, 10, 300),
                                            run_of(3, 1, {50}, 20, 200), run_of(4, 1, {11})});
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].jobs.size(), 4u);
  EXPECT_EQ(table.rows[0].reached, 3);
  EXPECT_EQ(table.rows[0].samples->median, 11.5);
  EXPECT_EQ(table.rows[0].time_to_train_seconds, 20);
  EXPECT_EQ(table.rows[0].samples_to_target, 200);
}

TEST(Scaling, CountsNoRunThatFailedAndMarksThoseUnderWay) {
  ScalingRun failed = run_of(1, 1, {10});
  failed.state = JobState::failed;
  ScalingRun running = run_of(3, 4, {30});
  running.state = JobState::running;
  const ScalingTable table = scaling_table({failed, run_of(2, 2, {18}), running});
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.base, 2);
  EXPECT_EQ(table.rows[1].devices, 4);
  EXPECT_TRUE(table.rows[1].so_far);
  EXPECT_DOUBLE_EQ(*table.rows[1].efficiency, 30.0 / 36);
  EXPECT_EQ(scaling_sentence(table), "2 devices: the only size that has ended; efficiency needs a second");
  EXPECT_EQ(scaling_sentence(scaling_table({failed, running})), "no size has ended that told its throughput");
}

TEST(Scaling, HasNoBaseBeforeARateIsTold) {
  const ScalingTable table = scaling_table({run_of(1, 1, {})});
  EXPECT_EQ(table.base, std::nullopt);
  EXPECT_EQ(table.rows.size(), 1u);
}

TEST(Scaling, ComparesTokensWhereNoSamplesAreTold) {
  ScalingRun one = run_of(1, 1, {}), two = run_of(2, 2, {}), samples = run_of(3, 4, {8});
  one.tokens_rate = series_of({100});
  two.tokens_rate = series_of({190});
  const ScalingTable table = scaling_table({one, two, samples});
  EXPECT_EQ(table.rows[1].efficiency, 0.95);
  EXPECT_EQ(table.rows[2].efficiency, std::nullopt);  // samples are not tokens
}

// Published: BERT-Large at 128 tokens takes 240.6 GFLOP a sequence; 415 sequences/s are so many TFLOP/s of an
// A100's 312.
TEST(Scaling, DividesModelFlopsByThePeak) {
  ScalingRun run = run_of(1, 1, {415});
  run.flops_per_sample = 240.6e9;
  run.peak_flops = 312e12;
  ScalingTable table = scaling_table({run});
  EXPECT_NEAR(*table.rows[0].model_flops, 99.85e12, 0.01e12);
  EXPECT_NEAR(*table.rows[0].mfu, 0.32, 0.001);
  ScalingRun other = run;
  other.peak_flops = 125e12;
  EXPECT_EQ(scaling_table({run, other}).rows[0].mfu, std::nullopt);
  run.peak_flops = std::nullopt;
  EXPECT_EQ(scaling_table({run}).rows[0].mfu, std::nullopt);
}

TEST(Scaling, SharesAreOfTheTimeThatDevicesWereHeld) {
  ScalingRun run = run_of(1, 1, {10}), untold = run_of(2, 1, {10});
  run.held_seconds = untold.held_seconds = 200;
  run.evaluating_seconds = 10;
  run.checkpointing_seconds = 5;
  const ScalingRow row = scaling_table({run, untold}).rows[0];
  EXPECT_EQ(row.evaluation_share, 0.05);
  EXPECT_EQ(row.checkpoint_share, 0.025);
}

// For whatever runs: the two sides are computed apart and agree to rounding.
TEST(Scaling, TimeEfficiencyIsTheProductOfItsParts) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-3, 6);
  const auto any = [&] { return std::pow(10, exponent(random)); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<ScalingRun> runs;
    for (int i = 0; i < 6; ++i) {
      std::vector<double> rates;
      for (int point = 0; point < 1 + static_cast<int>(random() % 20); ++point) rates.push_back(any());
      runs.push_back(run_of(i + 1, 1 << (random() % 4), rates, any(), any()));
    }
    const ScalingTable table = scaling_table(runs);
    ASSERT_TRUE(table.base);
    const ScalingRow& base = table.rows.front();
    for (const ScalingRow& row : table.rows) {
      ASSERT_TRUE(row.time_efficiency);
      const auto& [efficiency, throughput, samples, stepping] = *row.time_efficiency;
      EXPECT_NEAR(throughput * samples * stepping / efficiency, 1, 1e-12);
      EXPECT_NEAR(row.devices * *row.time_to_train_seconds * efficiency /
                      (base.devices * *base.time_to_train_seconds),
                  1, 1e-12);
      EXPECT_NEAR(
          *row.stepping_share * row.samples->median * *row.time_to_train_seconds / *row.samples_to_target, 1,
          1e-12);
    }
  }
}

}  // namespace
}  // namespace podium
