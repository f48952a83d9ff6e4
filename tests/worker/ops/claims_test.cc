#include "worker/ops/cpu/claims.h"

#include <gtest/gtest.h>

#include <vector>

namespace podium::ops::cpu {
namespace {

using Tasks = std::vector<std::int64_t>;

// What `thread` still gets when it alone goes on.
Tasks rest(Claims& claims, std::int64_t count, int thread) {
  Tasks found;
  for (std::int64_t task = claims.next(thread); task < count; task = claims.next(thread))
    found.push_back(task);
  return found;
}

TEST(Claims, AThreadHasItsOwnRunAndThenWhatTheOthersLeave) {
  Claims claims(7, 3);
  EXPECT_EQ(claims.next(2), 4);
  EXPECT_EQ(claims.next(0), 0);
  EXPECT_EQ(claims.next(1), 2);
  EXPECT_EQ(rest(claims, 7, 2), (Tasks{5, 6, 1, 3}));
  for (int thread = 0; thread < 3; ++thread) EXPECT_EQ(claims.next(thread), 7);
}

TEST(Claims, FewerTasksThanThreadsAreClaimedOnce) {
  Claims claims(1, 4);
  EXPECT_EQ(rest(claims, 1, 1), Tasks{0});
  for (int thread = 0; thread < 4; ++thread) EXPECT_EQ(claims.next(thread), 1);
}

TEST(Claims, ThreadsAtOnceShareAllTasksOut) {
  constexpr int kThreads = 4;
  constexpr std::int64_t kCount = 10'000;
  Claims claims(kCount, kThreads);
  std::vector<int> times(kCount);
#pragma omp parallel for num_threads(kThreads)
  for (int thread = 0; thread < kThreads; ++thread)
    for (const std::int64_t task : rest(claims, kCount, thread)) ++times[static_cast<std::size_t>(task)];
  EXPECT_EQ(times, std::vector<int>(kCount, 1));
}

}  // namespace
}  // namespace podium::ops::cpu
