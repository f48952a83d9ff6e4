#include "common/net/retry.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

using std::chrono::milliseconds;

TEST(Retry, DoublesUpToTheLongestAndSpreadsOverTheUpperHalf) {
  const RetryPolicy policy{milliseconds(100), milliseconds(1000)};
  EXPECT_EQ(retry_delay(policy, 1, 0.0), milliseconds(50));
  EXPECT_EQ(retry_delay(policy, 1, 0.5), milliseconds(75));
  EXPECT_EQ(retry_delay(policy, 3, 0.0), milliseconds(200));
  EXPECT_EQ(retry_delay(policy, 4, 0.0), milliseconds(400));
  EXPECT_EQ(retry_delay(policy, 5, 0.0), milliseconds(500));
  EXPECT_EQ(retry_delay(policy, 1'000'000, 0.0), milliseconds(500));
  EXPECT_LT(retry_delay(policy, 50, 0.999), milliseconds(1000));
}

TEST(RetryDeathTest, RefusesJitterOutsideItsRange) { EXPECT_DEATH(retry_delay({}, 1, 1.0), "jitter"); }

}  // namespace
}  // namespace podium
