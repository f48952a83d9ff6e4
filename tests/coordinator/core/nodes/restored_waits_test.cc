// A coordinator that was away waits for what its nodes know: its database may be an older copy.
#include "tests/coordinator/core/restored_fixture.h"

namespace podium {
namespace {

// A database that was restored may not know yet what runs.
TEST_F(RestoredDatabase, ARestartedCoordinatorStartsNothingBeforeItHasHeardFromEveryNode) {
  const NodeDescription other = node_with("node-2", 1);
  join(other);
  turn(CoordinatorUp{});
  const JobId id = submit(request_for(1));
  EXPECT_EQ(reason(id),
            "waits until the coordinator, which was away, has heard from node-1, node-2, for 20s at most");
  report(node_);
  EXPECT_EQ(state_of(id), JobState::queued);
  report(other);
  EXPECT_EQ(state_of(id), JobState::starting);
}

// It may hold tasks as well as one that was up.
TEST_F(RestoredDatabase, ARestartedCoordinatorWaitsForNodesThatWereUnknownToo) {
  const NodeDescription other = node_with("node-2", 1);
  join(other);
  for (int i = 0; i < 5; ++i) {
    wait(5);
    report(node_);
  }
  ASSERT_EQ(state_.nodes.at(other.id).state, NodeState::unknown);
  turn(CoordinatorUp{});
  const JobId id = submit(request_for(1));
  report(node_);
  EXPECT_EQ(reason(id),
            "waits until the coordinator, which was away, has heard from node-2, for 20s at most");
  wait(15);
  report(node_);
  EXPECT_EQ(state_of(id), JobState::queued);
  wait(5);
  EXPECT_EQ(state_of(id), JobState::starting) << "it is waited for no longer than one that was up";
  EXPECT_TRUE(state_.unheard.empty());
}

TEST_F(RestoredDatabase, ARestartedCoordinatorWaitsForNoNodeThatWasLost) {
  join(node_with("node-2", 1));
  for (int i = 0; i < 20; ++i) {
    wait(5);
    report(node_);
  }
  ASSERT_EQ(state_.nodes.at({"node-2"}).state, NodeState::lost);
  turn(CoordinatorUp{});
  report(node_);
  EXPECT_TRUE(state_.unheard.empty());
}

// Reports are no events that are kept: each start's wait was still there at the next.
TEST_F(RestoredDatabase, AStartThatIsReadFromTheLogLeavesNothingToWaitForToTheNext) {
  const NodeDescription other = node_with("node-2", 1);
  join(other);
  Events log;
  const auto keep = [&](const Result<Events>& events) {
    std::ranges::copy_if(*events, std::back_inserter(log), is_durable);
  };
  ClusterState from_log = state_;
  keep(turn(CoordinatorUp{}));
  for (int i = 0; i < 20; ++i) {
    now_ += std::chrono::seconds(5);
    keep(turn(Tick{}));
    keep(turn(NodeReported{{node_, {}, 0}}));
  }
  ASSERT_EQ(state_.nodes.at(other.id).state, NodeState::lost);
  keep(turn(CoordinatorUp{}));
  apply_all(from_log, log);
  EXPECT_EQ(from_log.unheard, state_.unheard);
  EXPECT_FALSE(from_log.unheard.contains(other.id)) << "nobody waits for a node that was lost";
}

TEST_F(RestoredDatabase, ASilentNodeDelaysARestartedCoordinatorNoLongerThanItIsUp) {
  join(node_with("silent", 4));
  turn(CoordinatorUp{});
  const JobId id = submit(request_for(1));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(state_of(id), JobState::queued);
    wait(5);
    report(node_);
  }
  wait(5);
  EXPECT_EQ(state_of(id), JobState::starting);
}

// A node that was lost when the copy was taken, or had not joined: no fence tells what it ran since.
TEST_F(RestoredDatabase, WithNothingSharedEveryStartWaitsForNodesThatTheDatabaseDoesNotList) {
  state_.limits.shared = false;
  turn(CoordinatorUp{});
  const JobId id = submit(request_for(1));
  EXPECT_EQ(
      reason(id),
      "waits until the coordinator, which was away, has heard from node-1, for 20s at most, and has "
      "listened for 35s to nodes that its database may not list: without a shared folder only they know "
      "what they ran");
  report(node_);
  EXPECT_EQ(
      reason(id),
      "waits until the coordinator, which was away, has listened for 35s to nodes that its database may "
      "not list: without a shared folder only they know what they ran");
  wait(10);
  const NodeDescription other = node_with("node-2", 1);
  tell_ended(other, {{id, 1}});
  EXPECT_TRUE(job(id).held);
  const JobId next = submit(request_for(1));
  wait(24);
  report(node_);
  EXPECT_EQ(state_of(next), JobState::queued);
  wait(1);
  EXPECT_EQ(state_of(next), JobState::starting);
}

// The copy was taken between the order and the agent's word of it: the attempt was started before the wait
// was over, although a later one had ended or ran elsewhere.
TEST_F(RestoredDatabase, WithNothingSharedWhatWasOrderedAndNotYetListedWaitsForAllNodesAsWell) {
  state_.limits.shared = false;
  const NodeDescription other = node_with("node-2", 1);
  const JobId ended = submit(request_for(1));
  join(other);
  const JobId fresh = submit(request_for(1));
  ASSERT_EQ(state_of(ended), JobState::starting);
  ASSERT_EQ(state_of(fresh), JobState::starting);
  turn(CoordinatorUp{});
  report(node_);
  EXPECT_TRUE(node_orders(state_, node_.id).tasks.empty());
  tell_ended(other, {{ended, 2}});
  EXPECT_TRUE(job(ended).held);
  EXPECT_EQ(state_of(ended), JobState::stopping) << "it has not begun, and shall not";
  ASSERT_EQ(node_orders(state_, node_.id).tasks.size(), 1u);
  EXPECT_EQ(node_orders(state_, node_.id).tasks[0].action, TaskAction::stop);
  EXPECT_TRUE(node_orders(state_, other.id).tasks.empty());
  const auto before = node_orders(state_, other.id).version;
  wait(35);
  ASSERT_EQ(node_orders(state_, other.id).tasks.size(), 1u);
  EXPECT_EQ(node_orders(state_, other.id).tasks[0].action, TaskAction::start);
  EXPECT_GT(node_orders(state_, other.id).version, before) << "a sync that is held would not tell of it";
}

TEST_F(RestoredDatabase, TheWaitForNodesThatAreNotListedEndsWithoutAnyReport) {
  state_ = ClusterState{};
  state_.limits.shared = false;
  turn(CoordinatorUp{});
  EXPECT_EQ(next_tick(state_, now_), now_ + std::chrono::seconds(35));
  wait(35);
  EXPECT_FALSE(awaits_reports(state_));
}

TEST_F(RestoredDatabase, NobodyIsListenedForWhereNothingCanHaveBeenRestored) {
  state_.limits.shared = false;
  now_ += std::chrono::minutes(1);
  ASSERT_TRUE(find<SilenceForgiven>(turn(Tick{}))) << "the process was stopped for a minute";
  EXPECT_FALSE(state_.listens_until);
  state_.cluster = {"new", 1};
  turn(CoordinatorUp{});
  EXPECT_FALSE(state_.listens_until) << "the database was made at this start";
  state_.cluster.generation = 2;
  turn(CoordinatorUp{});
  EXPECT_TRUE(state_.listens_until);
}

}  // namespace
}  // namespace podium
