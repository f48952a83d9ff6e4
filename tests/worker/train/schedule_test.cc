#include "worker/train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace podium {
namespace {

ScheduleSpec schedule(Decay decay) {
  ScheduleSpec spec;
  spec.steps = 1000;
  spec.warmup = 100;
  spec.decay = decay;
  spec.min_lr = 0.1;
  spec.power = 0.5;
  return spec;
}

TEST(Schedule, WarmsUpLinearlyToThePeak) {
  for (const Decay decay : {Decay::constant, Decay::linear, Decay::cosine, Decay::poly}) {
    EXPECT_DOUBLE_EQ(learning_rate(schedule(decay), 2, 1), 0.02);
    EXPECT_DOUBLE_EQ(learning_rate(schedule(decay), 2, 50), 1);
    EXPECT_DOUBLE_EQ(learning_rate(schedule(decay), 2, 100), 2);
  }
}

TEST(Schedule, DecaysAsItsNameSays) {
  EXPECT_DOUBLE_EQ(learning_rate(schedule(Decay::constant), 2, 999), 2);
  EXPECT_DOUBLE_EQ(learning_rate(schedule(Decay::linear), 2, 550), 1.05);
  EXPECT_DOUBLE_EQ(learning_rate(schedule(Decay::cosine), 2, 550), 1.05);
  EXPECT_DOUBLE_EQ(learning_rate(schedule(Decay::cosine), 2, 325), 0.1 + 1.9 * 0.5 * (1 + std::sqrt(0.5)));
  EXPECT_DOUBLE_EQ(learning_rate(schedule(Decay::poly), 2, 750), 0.1 + 1.9 * std::sqrt(0.25));
}

TEST(Schedule, EndsAtTheLeastRate) {
  for (const Decay decay : {Decay::linear, Decay::cosine, Decay::poly})
    EXPECT_NEAR(learning_rate(schedule(decay), 2, 1000), 0.1, 1e-12);
}

// What PolyWarmUpScheduler of NVIDIA's DeepLearningExamples (PyTorch, BERT) gives for BERT-large's two
// phases.
TEST(Schedule, FollowsTheLambRecipe) {
  ScheduleSpec first{.steps = 7038, .warmup = 0.2843, .decay = Decay::poly, .power = 0.5};
  const std::pair<std::int64_t, double> expected_first[] = {{1, 2.9986455118223097e-06},
                                                            {1000, 0.00299864551182231},
                                                            {2000, 0.00599729102364462},
                                                            {2001, 0.005075894589365794},
                                                            {3519, 0.004242640687119286},
                                                            {7037, 7.151985398522354e-05},
                                                            {7038, 0}};
  for (const auto& [step, rate] : expected_first)
    EXPECT_NEAR(learning_rate(first, 6e-3, step), rate, 1e-12) << step;

  ScheduleSpec second{.steps = 1563, .warmup = 0.128, .decay = Decay::poly, .power = 0.5};
  const std::pair<std::int64_t, double> expected_second[] = {{1, 1.999360204734485e-05},
                                                             {200, 0.00399872040946897},
                                                             {201, 0.0037339547970086148},
                                                             {1000, 0.002400682351282534}};
  for (const auto& [step, rate] : expected_second)
    EXPECT_NEAR(learning_rate(second, 4e-3, step), rate, 1e-12) << step;
}

// What OptimizerParamScheduler of Megatron-LM gives for its GPT 345M example: 1.5e-4 to 1e-5 by cosine over
// 320 000 steps, of which 1 % is warm-up.
TEST(Schedule, FollowsMegatronsCosine) {
  ScheduleSpec spec{.steps = 320'000, .warmup = 0.01, .decay = Decay::cosine, .power = 1, .min_lr = 1e-5};
  const std::pair<std::int64_t, double> expected[] = {{1, 4.6875e-08},
                                                      {3200, 1.5e-4},
                                                      {3201, 0.00014999999999655808},
                                                      {100'000, 0.00012015035054457321},
                                                      {161'600, 8e-5},
                                                      {320'000, 1e-5},
                                                      {500'000, 1e-5}};
  for (const auto& [step, rate] : expected)
    EXPECT_NEAR(learning_rate(spec, 1.5e-4, step), rate, 1e-15) << step;
}

TEST(Schedule, WarmUpBelowOneIsAFraction) {
  ScheduleSpec spec = schedule(Decay::linear);
  spec.warmup = 0.1;
  for (const std::int64_t step : {1, 50, 100, 101, 700})
    EXPECT_DOUBLE_EQ(learning_rate(spec, 2, step), learning_rate(schedule(Decay::linear), 2, step)) << step;
}

TEST(Schedule, WarmUpOfOneIsOneStepAndNotAllOfThem) {
  ScheduleSpec spec = schedule(Decay::linear);
  spec.warmup = 1;
  EXPECT_DOUBLE_EQ(learning_rate(spec, 2, 1), 2);
  EXPECT_LT(learning_rate(spec, 2, 2), 2);
}

TEST(Schedule, WorksWithoutWarmUp) {
  ScheduleSpec spec = schedule(Decay::linear);
  spec.warmup = 0;
  EXPECT_DOUBLE_EQ(learning_rate(spec, 2, 500), 1.05);
}

}  // namespace
}  // namespace podium
