// Silence, loss, return, and restarts of agents and of the coordinator; what tasks report.
#include "tests/coordinator/core/nodes_fixture.h"

namespace podium {
namespace {

TEST_F(Nodes, SilenceIsUnknownAndOnlyThenLost) {
  const JobId id = run_one();
  wait(20);
  EXPECT_EQ(node_state(), NodeState::unknown);
  EXPECT_EQ(state_of(id), JobState::running);
  wait(35);
  EXPECT_EQ(node_state(), NodeState::unknown);
  wait(5);
  EXPECT_EQ(node_state(), NodeState::lost);
  EXPECT_EQ(state_of(id), JobState::queued);
  EXPECT_EQ(job(id).retries.losses, 1);
  EXPECT_EQ(job(id).retries.failures, 0) << "a lost node costs no restart";
}

// Until somebody has seen the older attempt's end, or the newer one has run.
TEST_F(Nodes, AnAttemptAfterALostOneStartsBehindItsFence) {
  const JobId id = run_one();
  EXPECT_EQ(node_orders(state_, node_.id).tasks.at(0).wait, Duration{0});
  wait(60);
  const NodeDescription other = node_with("node-2", 1);
  join(other);
  ASSERT_EQ(job(id).attempts, 2);
  EXPECT_EQ(node_orders(state_, other.id).tasks.at(0).wait, lease::fence_wait(state_.limits.lease));
  turn(NodeReported{{other, {{task(id, 0), TaskState::exited, 0, TaskExit{75, 0, ""}}}, 0}});
  ASSERT_EQ(job(id).attempts, 3);
  EXPECT_EQ(node_orders(state_, other.id).tasks.at(0).wait, lease::fence_wait(state_.limits.lease))
      << "the second attempt never ran";
  report(other);
  report(other, {{task(id, 0), TaskExit{75, 0, ""}}});
  wait(5);  // its back-off
  ASSERT_EQ(job(id).attempts, 4);
  EXPECT_EQ(node_orders(state_, other.id).tasks.at(0).wait, Duration{0});
}

TEST_F(Nodes, WhereNothingIsSharedLossWaitsForTheLease) {
  state_.limits.shared = false;
  state_.limits.lease = lease::kUsualAlone;
  state_.limits.lost_after = lease::lost_after(lease::kUsualAlone, false);
  const JobId id = run_one();
  EXPECT_EQ(node_orders(state_, node_.id).orphan, Duration{0});
  wait(30 * 60 + 40);
  EXPECT_EQ(node_state(), NodeState::unknown) << "its agent may still be stopping its tasks";
  wait(5);
  EXPECT_EQ(node_state(), NodeState::lost);
  join(node_with("node-2", 1));
  ASSERT_EQ(job(id).attempts, 2);
  EXPECT_EQ(node_orders(state_, {"node-2"}).tasks.at(0).wait, Duration{0});
}

TEST_F(Nodes, AReportMakesUnknownUpAgain) {
  const JobId id = run_one();
  wait(55);
  report(node_);
  EXPECT_EQ(node_state(), NodeState::up);
  EXPECT_EQ(state_of(id), JobState::running);
  EXPECT_EQ(job(id).attempts, 1);
}

TEST_F(Nodes, LostNodesGetNoWorkUntilTheirOldTasksAreGone) {
  const JobId id = run_one();
  const TaskId old = task(id, 0);
  wait(120);
  ASSERT_EQ(node_state(), NodeState::lost);
  turn(NodeReported{{node_, {{old, TaskState::running, 1, {}}}, 0}});
  EXPECT_EQ(node_state(), NodeState::up);
  EXPECT_EQ(state_of(id), JobState::queued) << "the device is still busy with the fenced attempt";
  EXPECT_TRUE(node_orders(state_, node_.id).tasks.empty()) << "which makes the agent kill it";
  turn(NodeReported{{node_, {{old, TaskState::exited, 1, TaskExit{0, 9, ""}}}, 0}});
  EXPECT_EQ(state_of(id), JobState::starting);
  EXPECT_EQ(job(id).attempts, 2);
}

TEST_F(Nodes, AnAgentThatRestartsKeepsItsTasks) {
  const JobId id = run_one();
  node_.boot = "boot-2";
  const auto version = state_.nodes.at(node_.id).orders_version;
  report(node_);
  EXPECT_EQ(state_of(id), JobState::running);
  EXPECT_EQ(job(id).attempts, 1);
  EXPECT_EQ(state_.nodes.at(node_.id).orders_version, version);
}

TEST_F(Nodes, ATaskThatReportsKeepLackingIsLost) {
  const JobId id = run_one();
  node_.boot = "boot-2";
  report_nothing(0);
  EXPECT_TRUE(job(id).attempt->tasks[0].missing_since);
  wait(5);
  report(node_);
  EXPECT_FALSE(job(id).attempt->tasks[0].missing_since) << "found again";
  report_nothing(0);
  wait(10);
  report_nothing(0);
  EXPECT_EQ(job(id).attempts, 1);
  wait(5);
  report_nothing(0);
  EXPECT_EQ(job(id).attempts, 2);
  EXPECT_EQ(job(id).retries.losses, 1);
}

TEST_F(Nodes, WhatWasOnlyOrderedIsNotMissing) {
  const JobId id = submit(request_for(1));
  report_nothing(0);
  EXPECT_FALSE(job(id).attempt->tasks[0].missing_since);
  report_nothing(state_.nodes.at(node_.id).orders_version);
  EXPECT_FALSE(job(id).attempt->tasks[0].missing_since) << "its device may be occupied";
}

TEST_F(Nodes, AClockThatLeapsGivesMissingTasksAFreshStart) {
  const JobId id = run_one();
  report_nothing(0);
  ASSERT_TRUE(job(id).attempt->tasks[0].missing_since);
  now_ += std::chrono::hours(1);
  turn(Tick{});
  report_nothing(0);
  EXPECT_EQ(job(id).attempts, 1);
  EXPECT_FALSE(job(id).attempt->tasks[0].over());
}

TEST_F(Nodes, TheCoordinatorsOwnAbsenceIsNobodysFault) {
  const JobId id = run_one();
  now_ += std::chrono::minutes(5);
  turn(CoordinatorUp{});
  turn(Tick{});
  EXPECT_EQ(node_state(), NodeState::up);
  now_ += std::chrono::minutes(50);  // SIGSTOP, or a machine that slept
  turn(Tick{});
  turn(Tick{});
  EXPECT_EQ(node_state(), NodeState::up);
  EXPECT_EQ(state_of(id), JobState::running);
}

TEST_F(Nodes, ReportsOfOthersTasksChangeNothing) {
  const JobId id = run_one();
  const NodeDescription stranger = node_with("node-2", 1);
  turn(NodeReported{{stranger, {{task(id, 0), TaskState::exited, 1, TaskExit{}}}, 0}});
  EXPECT_EQ(state_of(id), JobState::running);
}

TEST_F(Nodes, AHeldDeviceStaysUntilItsJobLeaves) {
  const JobId id = run_one();
  node_.devices.clear();
  report(node_);
  ASSERT_EQ(state_.nodes.at(node_.id).devices.size(), 1u);
  report(node_, {{task(id, 0), {}}});
  EXPECT_TRUE(state_.nodes.at(node_.id).devices.empty());
}

TEST_F(Nodes, OneOfSeveralDevicesStaysUntilItsJobLeaves) {
  NodeDescription pair = node_with("pair", 2);
  join(pair);
  JobRequest request = request_for(2);
  const JobId id = submit(request);
  report(pair);
  pair.devices.erase(pair.devices.begin());
  report(pair);
  ASSERT_EQ(state_.nodes.at(pair.id).devices.size(), 2u);
  report(pair, {{task(id, 0), {}}, {task(id, 1), {}}});
  ASSERT_EQ(state_.nodes.at(pair.id).devices.size(), 1u);
  EXPECT_EQ(state_.nodes.at(pair.id).devices[0].device.index, 1);
}

TEST_F(Nodes, OrdersTellATaskItsPlace) {
  join(node_with("node-2", 1));
  const JobId id = submit(request_for(2));
  const NodeOrders orders = node_orders(state_, {"node-2"});
  ASSERT_EQ(orders.tasks.size(), 1u);
  const Launch& launch = orders.tasks[0].launch;
  EXPECT_EQ(launch.task, task(id, 1));
  EXPECT_EQ(launch.world_size, 2);
  EXPECT_EQ(launch.local_rank, 0);
  EXPECT_EQ(launch.node_rank, 1);
  EXPECT_EQ(launch.nodes, 2);
  EXPECT_EQ(launch.master_address, "node-1.local");
  EXPECT_EQ(orders.lease, state_.limits.lease);
}

TEST_F(Nodes, AnAgentThatReturnsIsGivenTimeToFindItsTasks) {
  const JobId id = run_one();
  report_nothing(node_orders(state_, node_.id).version);
  ASSERT_TRUE(job(id).attempt->tasks[0].missing_since.has_value());
  wait(30);
  for (int i = 0; i < 3; ++i) {
    report_nothing(0);  // it has not read its orders yet
    wait(2);
  }
  EXPECT_FALSE(job(id).attempt->tasks[0].over()) << "what was missed before the silence does not count";
}

TEST_F(Nodes, ATaskIsOrderedToStartUntilItsAgentHasListedIt) {
  const JobId id = submit(request_for(1));
  const auto action = [&] { return node_orders(state_, node_.id).tasks.at(0).action; };
  EXPECT_EQ(action(), TaskAction::start);
  turn(NodeReported{{node_, {}, node_orders(state_, node_.id).version}});
  EXPECT_EQ(action(), TaskAction::start) << "it may wait for its device";
  const std::int64_t version = state_.nodes.at(node_.id).orders_version;
  turn(NodeReported{{node_, {{task(id, 0), TaskState::starting, 0, {}}}, version}});
  EXPECT_EQ(action(), TaskAction::keep);
  EXPECT_EQ(state_of(id), JobState::starting);
  report(node_);
  EXPECT_EQ(action(), TaskAction::keep);
  EXPECT_EQ(state_of(id), JobState::running);
  EXPECT_EQ(state_.nodes.at(node_.id).orders_version, version) << "it tells the agent nothing new";
}

TEST_F(Nodes, ATaskWhoseEndNobodySawStartsAgainAtNoCostBehindItsFence) {
  for (const ExitCause cause : {ExitCause::no_record, ExitCause::node_restarted}) {
    const JobId id = run_one();
    report(node_, {{task(id, 0), {0, 9, "", cause}}});
    EXPECT_EQ(job(id).attempts, 2);
    EXPECT_EQ(job(id).retries.failures, 0);
    EXPECT_GT(node_orders(state_, node_.id).tasks.at(0).wait, Duration{0}) << "the node may be a copy";
    turn(CancelJob{id});
    report(node_, {{task(id, 0), {}}});
  }
}

}  // namespace
}  // namespace podium
