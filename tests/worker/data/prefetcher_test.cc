#include "worker/data/prefetcher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>

namespace podium {
namespace {

TEST(Prefetcher, KeepsTheOrder) {
  int made = 0;
  Prefetcher<int> values([&] { return made++; }, 3);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(values.next(), i);
}

TEST(Prefetcher, NeverRunsMoreThanItsDepthAhead) {
  std::atomic<int> made{0};
  std::atomic<int> taken{0};
  std::atomic<int> most_ahead{0};
  Prefetcher<int> values(
      [&] {
        most_ahead = std::max(most_ahead.load(), made - taken);
        return made++;
      },
      2);
  for (int i = 0; i < 200; ++i) {
    values.next();
    ++taken;
  }
  EXPECT_LE(most_ahead, 3) << "two in the queue and one just handed over";
}

TEST(Prefetcher, AnErrorComesAfterTheValuesBeforeIt) {
  int made = 0;
  Prefetcher<int> values(
      [&] {
        if (made == 2) throw std::runtime_error("no more");
        return made++;
      },
      8);
  EXPECT_EQ(values.next(), 0);
  EXPECT_EQ(values.next(), 1);
  EXPECT_THROW(values.next(), std::runtime_error);
}

TEST(Prefetcher, CanBeLeftWhileItWaitsForRoom) {
  const Prefetcher<int> values([] { return 1; }, 1);
}

}  // namespace
}  // namespace podium
