// The fence of the lease, lived through by two machines whose clocks go apart as far as clocks do.
#include "common/model/lease.h"

#include <gtest/gtest.h>

#include <vector>

namespace podium {
namespace {

// How fast a clock goes beside true time. The cluster's time follows a step by a thousandth, and steady
// clocks are off by less than half of one.
constexpr double kSlowNode = 1 - 0.0004, kFastNode = 1 + 0.0004, kFastCluster = 1 + 0.001 + 0.0004;

double true_seconds(Duration shown, double speed) {
  return std::chrono::duration<double>(shown).count() / speed;
}

// The last moment of a task whose agent is dead, with every turn of its shim as late as can be.
double last_moment(Duration right, Duration lease) {
  using namespace lease;
  return true_seconds(right + kAgentFirst + kShimLooks + leave(lease) + kShimLooks, kSlowNode) +
         true_seconds(kLate, 1);
}

std::vector<Duration> leases() {
  std::vector<Duration> all{lease::kLeast, lease::kUsual, lease::kUsualAlone, lease::kMost};
  for (Duration one = lease::kLeast; one < lease::kMost; one += one / 7) all.push_back(one);
  return all;
}

// One second of slack was all that there was for a lease of any length.
TEST(Lease, TheFenceHoldsHoweverLongTheLeaseWhenClocksGoApart) {
  for (const Duration lease : leases()) {
    const double lost_alone = true_seconds(lease::lost_after(lease, false), kFastCluster);
    EXPECT_GE(lost_alone, last_moment(lease, lease)) << lease.count() << " ms, nothing shared";
    const double behind_fence = true_seconds(lease::fence_wait(lease), kFastNode);
    EXPECT_GE(behind_fence, last_moment(lease::fence_lease(lease), lease)) << lease.count() << " ms, fence";
    const double lost = true_seconds(lease::lost_after(lease, true), kFastCluster) + behind_fence;
    EXPECT_GE(lost, last_moment(lease, lease)) << lease.count() << " ms, shared";
  }
}

TEST(Lease, AddsUpForEveryLeaseThatIsAllowed) {
  for (const Duration lease : leases()) {
    EXPECT_TRUE(lease::adds_up(lease, true)) << lease.count() << " ms";
    EXPECT_TRUE(lease::adds_up(lease, false)) << lease.count() << " ms";
  }
}

}  // namespace
}  // namespace podium
