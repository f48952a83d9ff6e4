// Silence, loss, return, restarts of agents and of the coordinator, and what a node may not be believed.
#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

class Nodes : public ClusterTest {
 protected:
  Nodes() { join(node_); }

  JobId run_one() {
    const JobId id = submit(request_for(1));
    report(node_);
    EXPECT_EQ(state_of(id), JobState::running);
    return id;
  }
  NodeState node_state() { return state_.nodes.at(node_.id).state; }
  void report_nothing(std::int64_t orders_seen) { turn(NodeReported{{node_, {}, orders_seen}}); }

  NodeDescription node_ = node_with("node-1", 1);
};

TEST_F(Nodes, SilenceIsUnknownAndOnlyThenLost) {
  const JobId id = run_one();
  wait(20);
  EXPECT_EQ(node_state(), NodeState::unknown);
  EXPECT_EQ(state_of(id), JobState::running);
  wait(85);
  EXPECT_EQ(node_state(), NodeState::unknown) << "its agent may still be stopping its tasks";
  wait(10);
  EXPECT_EQ(node_state(), NodeState::lost);
  EXPECT_EQ(state_of(id), JobState::queued);
  EXPECT_EQ(job(id).retries.losses, 1);
  EXPECT_EQ(job(id).retries.failures, 0) << "a lost node costs no restart";
}

TEST_F(Nodes, AReportMakesUnknownUpAgain) {
  const JobId id = run_one();
  wait(60);
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

TEST_F(Nodes, OrdersOnTheirWayAreNotMissing) {
  const JobId id = submit(request_for(1));
  report_nothing(0);
  EXPECT_FALSE(job(id).attempt->tasks[0].missing_since);
  report_nothing(state_.nodes.at(node_.id).orders_version);
  EXPECT_TRUE(job(id).attempt->tasks[0].missing_since) << "it has seen them";
}

TEST_F(Nodes, TheCoordinatorsOwnAbsenceIsNobodysFault) {
  const JobId id = run_one();
  now_ += std::chrono::hours(2);
  turn(CoordinatorUp{});
  turn(Tick{});
  EXPECT_EQ(node_state(), NodeState::up);
  now_ += std::chrono::hours(2);  // a clock that leaps, or a machine that slept
  turn(Tick{});
  turn(Tick{});
  EXPECT_EQ(node_state(), NodeState::up);
  now_ -= std::chrono::hours(3);
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

TEST_F(Nodes, RefusesADeviceListedTwice) {
  node_.devices.push_back(node_.devices[0]);
  const auto answer = turn(NodeReported{{node_, {}, 0}});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.errors()[0].message, "device 0 is listed twice");
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

}  // namespace
}  // namespace podium
