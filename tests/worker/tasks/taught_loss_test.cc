#include "worker/tasks/taught_loss.h"

#include <gmock/gmock.h>

namespace podium {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr DistillSpec kDistill{.weight = 0.25};

TEST(TaughtLoss, ItsScalesShareThoseOfTheLabels) {
  EXPECT_THAT(taught_scales(kDistill, {2}, 1), ElementsAre(1.5F, 0.5F, 0, 0));
  EXPECT_THAT(taught_scales(kDistill, {4, 8}, 2), ElementsAre(3, 6, 1, 2));
  EXPECT_THAT(taught_scales({}, {4, 8}, 2), ElementsAre(4, 8, 0, 0));
}

TEST(TaughtLoss, ItIsToldWithTheTeachersPart) {
  EXPECT_THAT(taught_loss(kDistill, 8, 4),
              ElementsAre(Pair("train/loss", 7), Pair("train/distillation_loss", 4)));
  EXPECT_THAT(taught_loss({}, 8, 4), ElementsAre(Pair("train/loss", 8)));
}

}  // namespace
}  // namespace podium
