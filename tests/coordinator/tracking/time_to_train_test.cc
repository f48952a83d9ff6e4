#include "coordinator/tracking/time_to_train.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

TEST(TimeToTrain, RunsFromTheFirstStartToTheTarget) {
  EXPECT_EQ(time_to_train_seconds({from_millis(1000), true, from_millis(61500), JobState::running, {}}),
            60.5);
}

TEST(TimeToTrain, NeedsTheTargetWhereThereIsOne) {
  EXPECT_EQ(time_to_train_seconds({from_millis(0), true, {}, JobState::succeeded, from_millis(9)}),
            std::nullopt);
}

TEST(TimeToTrain, WithoutATargetEndsWithSuccessAlone) {
  EXPECT_EQ(time_to_train_seconds({from_millis(0), false, {}, JobState::succeeded, from_millis(2000)}), 2.0);
  EXPECT_EQ(time_to_train_seconds({from_millis(0), false, {}, JobState::failed, from_millis(2000)}),
            std::nullopt);
  EXPECT_EQ(time_to_train_seconds({{}, false, {}, JobState::queued, {}}), std::nullopt);
}

}  // namespace
}  // namespace podium
