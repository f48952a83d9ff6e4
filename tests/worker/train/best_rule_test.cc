#include "worker/train/best_rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace podium {
namespace {

TEST(BestRule, TakesWhatIsBetterInItsDirectionAlone) {
  const BestRule most{"eval/f1", Goal::max}, least{"eval/f1", Goal::min};
  BestCheckpoint best;
  EXPECT_TRUE(most.take({{"eval/loss", 1}, {"eval/f1", 80}}, 10, best)) << "the first is the best so far";
  EXPECT_EQ(best, (BestCheckpoint{"eval/f1", 10, 80}));
  EXPECT_FALSE(most.take({{"eval/f1", 79}}, 20, best));
  EXPECT_FALSE(most.take({{"eval/f1", 80}}, 30, best)) << "equal is not better";
  EXPECT_EQ(best.step, 10);
  EXPECT_TRUE(most.take({{"eval/f1", 81}}, 40, best));
  EXPECT_EQ(best, (BestCheckpoint{"eval/f1", 40, 81}));
  EXPECT_TRUE(least.take({{"eval/f1", 79}}, 50, best));
  EXPECT_FALSE(least.take({{"eval/f1", 79}}, 60, best));
  EXPECT_FALSE(least.take({{"eval/f1", 80}}, 70, best));
  EXPECT_EQ(best.step, 50);
}

TEST(BestRule, WhatIsNotFiniteOrNotToldIsNeverBest) {
  const BestRule least{"eval/loss", Goal::min};
  BestCheckpoint best;
  EXPECT_FALSE(least.take({{"eval/f1", 1}}, 10, best));
  EXPECT_FALSE(least.take({{"eval/loss", std::nan("")}}, 10, best));
  EXPECT_FALSE(least.take({{"eval/loss", -std::numeric_limits<double>::infinity()}}, 10, best));
  EXPECT_FALSE(best.known());
}

}  // namespace
}  // namespace podium
