#include "worker/train/loss_scaler.h"

#include <gtest/gtest.h>

#include <limits>

namespace podium {
namespace {

constexpr double kOverflow = std::numeric_limits<double>::infinity();

TEST(LossScaler, HalvesAtAnOverflowAndCountsTheSkippedStep) {
  LossScaler scaler(Precision::fp16);
  EXPECT_EQ(scaler.scale(), 65536);
  EXPECT_EQ(scaler.judge(kOverflow), StepVerdict::skip);
  EXPECT_EQ(scaler.judge(std::numeric_limits<double>::quiet_NaN()), StepVerdict::skip);
  EXPECT_EQ(scaler.scale(), 16384);
  EXPECT_EQ(scaler.judge(3.0), StepVerdict::take);
  EXPECT_EQ(scaler.scale(), 16384);
  EXPECT_EQ(scaler.state().skipped, 2);
}

TEST(LossScaler, DoublesAfterTwoThousandCleanStepsInARow) {
  LossScaler scaler(Precision::fp16);
  for (int i = 0; i < 1999; ++i) scaler.judge(1);
  scaler.judge(kOverflow);
  for (int i = 0; i < 1999; ++i) scaler.judge(1);
  EXPECT_EQ(scaler.scale(), 32768) << "the overflow began the count anew";
  scaler.judge(1);
  EXPECT_EQ(scaler.scale(), 65536);
}

TEST(LossScaler, StaysWithinItsBounds) {
  LossScaler scaler(Precision::fp16);
  for (int i = 0; i < 2000 * 20; ++i) scaler.judge(1);
  EXPECT_EQ(scaler.scale(), 16777216);
  for (int i = 0; i < 24; ++i) EXPECT_EQ(scaler.judge(kOverflow), StepVerdict::skip);
  EXPECT_EQ(scaler.scale(), 1);
  EXPECT_EQ(scaler.judge(kOverflow), StepVerdict::diverged) << "at no scale do the gradients fit";
  EXPECT_EQ(scaler.state().skipped, 24);
}

TEST(LossScaler, OtherPrecisionsAreNotScaledAndDivergeAtOnce) {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    LossScaler scaler(precision);
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(scaler.judge(1), StepVerdict::take);
    EXPECT_EQ(scaler.scale(), 1);
    EXPECT_EQ(scaler.judge(kOverflow), StepVerdict::diverged);
    EXPECT_EQ(scaler.state().skipped, 0);
  }
}

TEST(LossScaler, GoesOnFromItsState) {
  LossScaler first(Precision::fp16);
  first.judge(kOverflow);
  for (int i = 0; i < 1500; ++i) first.judge(1);
  LossScaler second(Precision::fp16);
  second.restore(first.state());
  for (int i = 0; i < 500; ++i) EXPECT_EQ(first.judge(1), second.judge(1));
  EXPECT_EQ(first.state(), second.state());
  EXPECT_EQ(second.scale(), 65536);
}

}  // namespace
}  // namespace podium
