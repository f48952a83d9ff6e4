// The cluster's time under clocks that somebody sets.
#include "coordinator/loop/cluster_clock.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

using namespace std::chrono_literals;

class SetClock final : public Clock {
 public:
  explicit SetClock(Time at) : time(at) {}
  Time now() const override { return time; }
  Time time;
};

class ClusterTime : public testing::Test {
 protected:
  void pass(Duration duration) {
    wall_.time += duration;
    boot_.time += duration;
  }
  // A look each second, as a coordinator that is awake takes them.
  void watch(Duration duration) {
    for (Duration done{0}; done < duration; done += 1s) {
      pass(1s);
      const Time before = std::exchange(last_, clock_.now());
      EXPECT_GT(last_, before);
    }
  }

  const Time begin_ = from_millis(1'700'000'000'000);
  SetClock wall_{begin_};
  SetClock boot_{from_millis(5'000)};
  ClusterClock clock_{wall_, boot_};
  Time last_ = clock_.now();
};

TEST_F(ClusterTime, IsTheWallClocksWhereNobodySetsIt) {
  EXPECT_EQ(clock_.now(), begin_);
  watch(1h);
  EXPECT_EQ(clock_.now(), begin_ + 1h);
}

TEST_F(ClusterTime, AStepOfAnySizeMovesItByAThousandthOfTheTimeThatPasses) {
  for (const Duration step : {Duration(24h * 365), Duration(-24h * 365), Duration(61min), Duration(-9s)}) {
    const Time before = clock_.now();
    wall_.time = before + step;
    EXPECT_EQ(clock_.now(), before);
    watch(1000s);
    EXPECT_EQ(clock_.now(), before + 1000s + (step > 0s ? 1s : -1s));
  }
}

TEST_F(ClusterTime, ASmallStepIsCaughtUp) {
  wall_.time += 2s;
  watch(1h);
  EXPECT_EQ(clock_.now(), begin_ + 1h + 2s);
}

TEST_F(ClusterTime, LooksThatAreFarApartMayDriftNoMore) {
  wall_.time -= 1h;
  pass(1000s);
  EXPECT_EQ(clock_.now(), begin_ + 999s);
}

TEST_F(ClusterTime, IsNeverBeforeWhatTheLogKnows) {
  clock_.not_before(begin_ + 1h);
  EXPECT_EQ(clock_.now(), begin_ + 1h);
  clock_.not_before(begin_);
  EXPECT_EQ(clock_.now(), begin_ + 1h);
}

}  // namespace
}  // namespace podium
