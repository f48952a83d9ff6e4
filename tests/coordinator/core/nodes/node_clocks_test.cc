// How far a node's wall clock is from the cluster's time.
#include "tests/coordinator/core/nodes_fixture.h"

namespace podium {
namespace {

using NodeClocks = Nodes;

// NTP's sum: the way up and the way down are equally long.
TEST_F(NodeClocks, SyncsMeasureANodesClock) {
  const auto ms = [](int count) { return std::chrono::milliseconds(count); };
  const Duration ahead = std::chrono::hours(1);
  const auto sync = [&](Duration up, Duration down) {
    const Time answered = now_;
    now_ += ms(500);
    const ClockTelling told{now_ - up + ahead, answered + down + ahead, answered};
    turn(NodeReported{{node_, {}, 0, {}, false, {}, told}});
    return *state_.nodes.at(node_.id).clock;
  };
  EXPECT_EQ(sync(ms(20), ms(20)).ahead, ahead);
  EXPECT_EQ(sync(ms(20), ms(20)).round_trip, ms(40));
  EXPECT_EQ(sync(ms(100), ms(20)).ahead, ahead - ms(40)) << "half of what the ways differ by";
  EXPECT_EQ(sync(ms(20), ms(20)).ahead, ahead);
  EXPECT_EQ(sync(ms(400), ms(20)).ahead, ahead) << "a slow exchange says less than the one before";
  EXPECT_TRUE(state_.nodes.at(node_.id).clock->off());
  turn(NodeReported{{node_, {}, 0}});
  EXPECT_FALSE(state_.nodes.at(node_.id).clock.has_value());
}

TEST_F(NodeClocks, AClockThatWasSetBetweenTwoSyncsMeasuresNothing) {
  const Time answered = now_;
  const auto tell = [&](Duration set) {
    NodeReport report{node_, {}, 0};
    report.clock = ClockTelling{now_ + set, answered, answered};
    turn(NodeReported{report});
    return state_.nodes.at(node_.id).clock->ahead;
  };
  join(node_);
  now_ += std::chrono::seconds(1);
  const Duration before = tell({});
  EXPECT_EQ(tell(std::chrono::hours(1)), before);
}

}  // namespace
}  // namespace podium
