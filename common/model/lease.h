// All durations that follow from the lease, and the sums that prove fencing: before a newer attempt of a job
// starts a task, every task of the older attempt has ended. adds_up() below checks the sums for the shortest,
// the usual and the longest lease. A change here applies to coordinator, agent and shim at once; none of them
// may have a number of its own.
//
// A node may run tasks for `lease` from the moment it sent the report that was answered last. Where the nodes
// share a folder it may also go on for `fence_lease` from the moment it began to read there that its attempt
// is still the newest (agent/process/shared_fence.h). Then its tasks have `leave` to save and go.
#pragma once

#include <algorithm>

#include "common/base/time.h"

namespace podium::lease {

using namespace std::chrono_literals;

inline constexpr Duration kUsual = 60s;
inline constexpr Duration kUsualAlone = 30min;  // where the nodes share no folder
inline constexpr Duration kLeast = 10s;         // the shortest lease with which the sums below hold
inline constexpr Duration kMost = 24h * 30;
inline constexpr Duration kUsualOrphan = 12h;  // without the coordinator, by the fence alone

// For podium-shim, which uses the same clock, from the end that the agent has written for it.
inline constexpr Duration kAgentFirst = 2s;  // a living agent acts before its shims do
inline constexpr Duration kShimLooks = 1s;
// Timers that fire late.
inline constexpr Duration kLate = 1s;
// Two clocks differ by one part in kApart at most: the cluster's time follows a step of the wall clock by a
// thousandth (coordinator/loop/cluster_clock.h), and steady clocks of two machines differ by less.
inline constexpr int kApart = 500;

// How long the coordinator delays its answer to a sync without news; the agent waits a little longer for it.
constexpr Duration longest_poll(Duration lease) { return std::min<Duration>(15s, lease / 4); }
constexpr Duration answer_timeout(Duration lease) {
  return longest_poll(lease) + std::min<Duration>(10s, lease / 6);
}
// Every agent that can reach a new coordinator has reported to it by then: a sync that the previous one left
// unanswered has timed out, whatever its lease, and agents wait at most kLongestRetry between two syncs.
inline constexpr Duration kLongestRetry = 5s;
inline constexpr Duration kReportWithin = answer_timeout(kMost) + kLongestRetry + 5s;
// From SIGTERM to SIGKILL after the lease.
constexpr Duration leave(Duration lease) { return std::min<Duration>(30s, lease / 2); }
// The longest that a task lives after the end of its node's lease, even with a dead agent, by the node's
// clock.
constexpr Duration last_of_task(Duration lease) {
  return kAgentFirst + kShimLooks + leave(lease) + kShimLooks + kLate;
}
// The same by another clock, which may also have drifted over the lease before it.
constexpr Duration overrun(Duration lease) { return last_of_task(lease) + lease * 5 / (2 * kApart); }
// The least time that another clock shows when `passed` has passed by one.
constexpr Duration at_least(Duration passed) { return passed - passed / kApart; }

constexpr Duration fence_lease(Duration lease) { return std::min<Duration>(30s, lease / 2); }
constexpr Duration fence_poll(Duration lease) { return fence_lease(lease) / 6; }
// The time from raising a fence until the tasks of older attempts have ended: an agent that read the fence
// just before may go on for a fence lease.
constexpr Duration fence_wait(Duration lease) { return fence_lease(lease) + overrun(lease); }

constexpr Duration unknown_after(Duration lease) { return std::min<Duration>(20s, lease / 3); }
// The shortest silence that makes a node lost. With a fence, the rest of the lease ends while the newer
// attempt waits behind the fence; without one, it has ended before.
constexpr Duration lost_after(Duration lease, bool shared) { return shared ? lease : lease + overrun(lease); }

constexpr bool adds_up(Duration lease, bool shared) {
  const Duration silence = lost_after(lease, shared);
  const Duration wait = shared ? fence_wait(lease) : Duration{0};
  return at_least(silence + wait) >= lease + last_of_task(lease)  // the older attempt's last word was a sync
         && at_least(fence_wait(lease)) >= fence_lease(lease) + last_of_task(lease)  // or a look at the fence
         && longest_poll(lease) * 4 <= lease && answer_timeout(lease) > longest_poll(lease) &&
         answer_timeout(lease) * 2 < lease              // two lost answers end nothing
         && unknown_after(lease) > longest_poll(lease)  // a node that is heard regularly is not unknown
         && silence >= unknown_after(lease) && silence > answer_timeout(lease) && fence_poll(lease) >= 500ms;
}
static_assert(adds_up(kLeast, true) && adds_up(kLeast, false));
static_assert(adds_up(kUsual, true) && adds_up(kUsual, false));
static_assert(adds_up(kUsualAlone, true) && adds_up(kUsualAlone, false));
static_assert(adds_up(kMost, true) && adds_up(kMost, false));
static_assert(!adds_up(5s, true), "shorter ones do not");

}  // namespace podium::lease
