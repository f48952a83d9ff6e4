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

TEST(Schedule, WarmUpBelowOneIsAFraction) {
  ScheduleSpec nvidia;  // BERT-Large, phase 1
  nvidia.steps = 7038;
  nvidia.warmup = 0.2843;
  nvidia.decay = Decay::poly;
  nvidia.power = 0.5;
  EXPECT_EQ(warmup_steps(nvidia), 2001);
  EXPECT_DOUBLE_EQ(learning_rate(nvidia, 6e-3, 2001), 6e-3);
  EXPECT_DOUBLE_EQ(learning_rate(nvidia, 6e-3, 3519), 6e-3 * std::sqrt(0.5));
}

TEST(Schedule, WorksWithoutWarmUp) {
  ScheduleSpec spec = schedule(Decay::linear);
  spec.warmup = 0;
  EXPECT_DOUBLE_EQ(learning_rate(spec, 2, 500), 1.05);
}

}  // namespace
}  // namespace podium
