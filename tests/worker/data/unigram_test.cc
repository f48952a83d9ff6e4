#include "worker/data/unigram.h"

#include <gtest/gtest.h>

#include <cmath>

namespace podium {
namespace {

TEST(Unigram, LossIsMinusTheLogOfTheSmoothedShare) {
  const UnigramModel model({3, 0, 1});
  EXPECT_DOUBLE_EQ(model.loss(0), -std::log(4.0 / 7.0));
  EXPECT_DOUBLE_EQ(model.loss(1), -std::log(1.0 / 7.0));
  EXPECT_DOUBLE_EQ(model.total_loss(std::vector<std::int32_t>{0, 1}), model.loss(0) + model.loss(1));
}

TEST(Unigram, SharesAddUpToOne) {
  const UnigramModel model({10, 0, 5, 85});
  double sum = 0;
  for (std::int32_t i = 0; i < 4; ++i) sum += std::exp(-model.loss(i));
  EXPECT_NEAR(sum, 1, 1e-12);
}

}  // namespace
}  // namespace podium
