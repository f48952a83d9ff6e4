#include "coordinator/tracking/projection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "bench/projection/curves.h"
#include "tests/worker/shared_data.h"

namespace podium {
namespace {

constexpr std::int64_t kEvery = 100;  // steps between evaluations
constexpr std::int64_t kPace = 250;   // milliseconds a step

Series curve(int points, const std::function<double(double)>& value) {
  Series series;
  for (int i = 1; i <= points; ++i) {
    const std::int64_t step = i * kEvery;
    series.push_back({step, from_millis(1'000'000 + step * kPace), value(static_cast<double>(step))});
  }
  return series;
}

double loss(double step) { return 2 + 30 * std::pow(step + 50, -0.4); }
double step_of_loss(double value) { return std::pow((value - 2) / 30, -1 / 0.4) - 50; }

ProjectionInput losses(double target, std::int64_t steps = 0) {
  return {.curve = curve(40, loss), .target = target, .at_least = false, .steps = steps, .earlier = {}};
}

TEST(Projection, FindsWhereALawMeetsItsTarget) {
  const double truth = step_of_loss(2.8);
  ASSERT_GT(truth, 8000);
  const Projection found = project(losses(2.8));
  ASSERT_TRUE(found.step.p10 && found.step.p50 && found.step.p90);
  EXPECT_EQ(found.doubt, "");
  EXPECT_NEAR(static_cast<double>(*found.step.p50), truth, 0.06 * truth);
  EXPECT_LE(*found.step.p10, *found.step.p50);
  EXPECT_LE(*found.step.p50, *found.step.p90);
}

TEST(Projection, TellsTheTimeAtThePaceSoFar) {
  const ProjectionInput input = losses(2.8, 20'000);
  const Projection found = project(input);
  const SeriesPoint& last = input.curve.back();
  ASSERT_TRUE(found.time.p50 && found.ends);
  EXPECT_EQ(*found.time.p50 - last.time, Duration((*found.step.p50 - last.step) * kPace));
  EXPECT_EQ(*found.ends - last.time, Duration((20'000 - last.step) * kPace));
}

TEST(Projection, IsTheSameForTheSameCurve) {
  const Projection first = project(losses(2.8)), second = project(losses(2.8));
  EXPECT_EQ(first.step.p10, second.step.p10);
  EXPECT_EQ(first.step.p90, second.step.p90);
}

TEST(Projection, SaysWhenACurveStaysShortOfTheTarget) {
  const Projection found = project(losses(1.9, 40'000));
  EXPECT_EQ(found.step.p50, std::nullopt);
  EXPECT_LT(found.reaches, 0.1);
  EXPECT_TRUE(found.doubt.starts_with("by its curve it does not reach 1.9: at step 40000 it has 2.4"))
      << found.doubt;
  EXPECT_NEAR(found.fan.back().p50, loss(40'000), 0.05);
}

TEST(Projection, SaysWhatItLacks) {
  ProjectionInput input{.curve = curve(3, loss), .target = 2, .at_least = false, .steps = 0, .earlier = {}};
  EXPECT_EQ(project(input).doubt, "its curve has 3 points; 6 are needed");
  input.curve = curve(20, [](double) { return std::nan(""); });
  EXPECT_EQ(project(input).doubt, "its curve has 0 points; 6 are needed");
  input.curve = curve(20, [](double step) { return step; });
  EXPECT_EQ(project(input).doubt, "its curve shows no progress yet");
}

TEST(Projection, IsNotLedAstrayBySpikes) {
  ProjectionInput spiked = losses(2.8);
  for (const std::size_t at : {5U, 17U, 30U}) spiked.curve[at].value = 40;
  spiked.curve[33].value = std::numeric_limits<double>::infinity();
  const double truth = step_of_loss(2.8);
  const Projection found = project(spiked);
  ASSERT_TRUE(found.step.p50);
  EXPECT_NEAR(static_cast<double>(*found.step.p50), truth, 0.1 * truth);
}

// The job has shown little more than the plateau that the earlier one left.
TEST(Projection, LearnsFromAnEarlierJob) {
  const auto accuracy = [](double step) {
    return 0.7 / (1 + std::pow(5000 / step, 6)) + 0.002 * std::sin(step * step);
  };
  ProjectionInput input{
      .curve = curve(25, accuracy), .target = 0.6, .at_least = true, .steps = 20'000, .earlier = {}};
  const double truth = 5000 * std::pow(0.7 / 0.6 - 1, -1 / 6.0);
  const auto error = [&] {
    const Projection found = project(input);
    return found.step.p50 ? std::abs(static_cast<double>(*found.step.p50) - truth) / truth : 1;
  };
  const double alone = error();
  input.earlier = {curve(200, accuracy)};
  EXPECT_LT(error(), 0.05) << alone;
  EXPECT_GT(alone, 0.05);
}

// On curves that no law was chosen for; bench/projection has three times as many.
TEST(Projection, HoldsTheTruthBetweenItsTenthsMostOfTheTime) {
  const std::vector<KnownCurve> curves = synthetic_curves(100, 11);
  const double most_error[] = {0.5, 0.35, 0.15};
  for (int quarter = 1; quarter <= 3; ++quarter) {
    const Score scored = score(curves, quarter / 4.0);
    ASSERT_GT(scored.asked, 80);
    EXPECT_GE(scored.within, 0.7 * scored.asked) << "at " << quarter << "/4";
    EXPECT_LE(scored.within, 0.92 * scored.asked) << "at " << quarter << "/4";
    EXPECT_LE(scored.error, most_error[quarter - 1]) << "at " << quarter << "/4";
  }
}

TEST(Projection, HoldsTheTruthOfMlperfTrainings) {
  const auto logs = shared_data("mlperf/logs");
  if (!logs) GTEST_SKIP() << "skipped: no shared data";
  const Score scored = score(mlperf_curves(*logs), 0.75);
  ASSERT_GT(scored.asked, 40);
  EXPECT_GE(scored.within, 0.7 * scored.asked);
}

}  // namespace
}  // namespace podium
