#include "worker/serve/compute_speed.h"

#include <gmock/gmock.h>

namespace podium {
namespace {

using std::chrono::seconds;

TEST(ComputeSpeed, TellsASecondAsLongAsNothingIsKnown) {
  EXPECT_EQ(ComputeSpeed().time_of(1'000'000), seconds(1));
}

TEST(ComputeSpeed, TellsWholeSecondsFromOneToAMinute) {
  ComputeSpeed speed;
  speed.add(200, seconds(2));
  EXPECT_EQ(speed.time_of(0), seconds(1));
  EXPECT_EQ(speed.time_of(500), seconds(5));
  EXPECT_EQ(speed.time_of(501), seconds(6));
  EXPECT_EQ(speed.time_of(6'000), seconds(60));
  EXPECT_EQ(speed.time_of(1'000'000), seconds(60));
}

TEST(ComputeSpeed, TheNewestBatchIsAFifthOfIt) {
  ComputeSpeed speed;
  speed.add(100, seconds(1));
  speed.add(600, seconds(1));
  EXPECT_EQ(speed.time_of(2'000), seconds(10)) << "200 a second";
}

}  // namespace
}  // namespace podium
