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

// Of ranks that fail together the first is to blame, by the cluster's time.
TEST_F(NodeClocks, WhenATaskFailedIsInTheClustersTime) {
  constexpr Duration kAhead = std::chrono::hours(1), kSince = std::chrono::seconds(5);
  join(node_);
  for (const Time told : {now_ + kAhead - kSince, Time::max(), Time::min(), Time{}}) {
    const TaskId ran = task(submit(request_for(1)), 0);
    NodeReport running{node_, {{ran, TaskState::running, 1, {}}}, 0};
    running.clock = ClockTelling{now_ + kAhead, now_ + kAhead, now_};
    turn(NodeReported{running});
    TaskExit exit{65, 0, ""};
    exit.failed_at = told;
    const auto events = turn(NodeReported{{node_, {{ran, TaskState::exited, 1, exit}}, 0}});
    const Time kept = find<TaskExited>(events)->exit.failed_at;
    const Time wanted = told == Time{} ? told : told == Time::max() ? now_ : now_ - kSince;
    if (told == Time::min()) {
      EXPECT_LT(kept, now_);
    } else {
      EXPECT_EQ(kept, wanted) << "nothing happens in the time to come";
    }
  }
}

}  // namespace
}  // namespace podium
