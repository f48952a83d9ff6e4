#include "worker/train/loss_scaler.h"

#include <gtest/gtest.h>

#include <limits>

namespace podium {
namespace {

constexpr double kOverflow = std::numeric_limits<double>::infinity();

constexpr double kFirst = 4294967296;  // Megatron-LM's --initial-loss-scale: 2^32

TEST(LossScaler, BeginsAtTheRecipesScale) {
  EXPECT_EQ(LossScaler(Precision::fp16).scale(), kFirst);
  EXPECT_EQ(LossScaler(Precision::bf16).scale(), 1);
}

TEST(LossScaler, HalvesAtAnOverflowAndCountsTheSkippedBatch) {
  LossScaler scaler(Precision::fp16);
  EXPECT_EQ(scaler.judge(kOverflow), StepVerdict::rescale);
  EXPECT_EQ(scaler.judge(std::numeric_limits<double>::quiet_NaN()), StepVerdict::rescale);
  EXPECT_EQ(scaler.scale(), kFirst / 4);
  EXPECT_EQ(scaler.judge(3.0), StepVerdict::take);
  EXPECT_EQ(scaler.scale(), kFirst / 4);
  EXPECT_EQ(scaler.state().skipped, 2);
  EXPECT_EQ(scaler.state().not_finite, 0) << "a smaller scale may do";
}

TEST(LossScaler, DoublesAfterTwoThousandCleanStepsInARow) {
  LossScaler scaler(Precision::fp16);
  scaler.judge(kOverflow);
  for (int i = 0; i < 1999; ++i) scaler.judge(1);
  scaler.judge(kOverflow);
  for (int i = 0; i < 1999; ++i) scaler.judge(1);
  EXPECT_EQ(scaler.scale(), kFirst / 4) << "the overflow began the count anew";
  scaler.judge(1);
  EXPECT_EQ(scaler.scale(), kFirst / 2);
}

TEST(LossScaler, StaysWithinItsBounds) {
  LossScaler scaler(Precision::fp16);
  for (int i = 0; i < 2000 * 3; ++i) scaler.judge(1);
  EXPECT_EQ(scaler.scale(), kFirst);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(scaler.judge(kOverflow), StepVerdict::rescale);
  EXPECT_EQ(scaler.scale(), 1);
  EXPECT_EQ(scaler.judge(kOverflow), StepVerdict::pass_over) << "at no scale do the gradients fit";
  EXPECT_EQ(scaler.state().skipped, 33);
  EXPECT_EQ(scaler.state().not_finite, 1);
}

TEST(LossScaler, OtherPrecisionsAreNotScaledAndPassSomeBatchesOver) {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    LossScaler scaler(precision);
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(scaler.judge(1), StepVerdict::take);
    EXPECT_EQ(scaler.judge(kOverflow), StepVerdict::pass_over);
    EXPECT_EQ(scaler.judge(1), StepVerdict::take);
    for (int i = 0; i < kMostNotFiniteInARow; ++i)
      EXPECT_EQ(scaler.judge(kOverflow), StepVerdict::pass_over) << "a step was taken before";
    EXPECT_EQ(scaler.judge(kOverflow), StepVerdict::diverged);
    EXPECT_EQ(scaler.scale(), 1);
    EXPECT_EQ(scaler.state().skipped, 2 + kMostNotFiniteInARow);
  }
}

TEST(LossScaler, TooManyInAllDivergeToo) {
  LossScaler scaler(Precision::bf16);
  for (int i = 0; i < kMostNotFinite; ++i) {
    EXPECT_EQ(scaler.judge(kOverflow), StepVerdict::pass_over) << i;
    scaler.judge(1);
  }
  EXPECT_EQ(scaler.judge(kOverflow), StepVerdict::diverged);
}

TEST(LossScaler, GoesOnFromItsState) {
  LossScaler first(Precision::fp16);
  first.judge(kOverflow);
  for (int i = 0; i < 1500; ++i) first.judge(1);
  LossScaler second(Precision::fp16);
  second.restore(first.state());
  for (int i = 0; i < 500; ++i) EXPECT_EQ(first.judge(1), second.judge(1));
  EXPECT_EQ(first.state(), second.state());
  EXPECT_EQ(second.scale(), kFirst);
}

}  // namespace
}  // namespace podium
