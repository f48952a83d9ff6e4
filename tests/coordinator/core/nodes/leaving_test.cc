// Nodes whose machines are lent: the end of the loan, and their leaving.
#include "coordinator/core/nodes/leaving.h"

#include <nlohmann/json.hpp>

#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

class LentNodes : public ClusterTest {
 protected:
  void remove(const std::string& node) { turn(RemoveNode{{node}, "job 17 of Slurm has ended"}); }
  // From the log's snapshot, the state must be the same.
  void expect_replayed() {
    ClusterState empty;
    empty.limits = state_.limits;
    empty.scheduling = state_.scheduling;
    const ClusterState again = cluster_state_from_json(to_json(state_), empty);
    EXPECT_EQ(again.indexes.node_ids, state_.indexes.node_ids);
    EXPECT_EQ(again.indexes.pools, state_.indexes.pools);
    EXPECT_EQ(again.indexes.impaired, state_.indexes.impaired);
  }
};

TEST_F(LentNodes, AnIdleNodeLeavesAtOnce) {
  join(node_with("a", 2));
  join(node_with("b", 2));
  remove("a");
  EXPECT_FALSE(state_.nodes.contains({"a"}));
  const DevicePool& pool = state_.indexes.pools.at({"cpu", {}});
  EXPECT_EQ(pool.free.total(), 2);
  EXPECT_EQ(pool.capacity.total(), 2);
  wait(300);  // nobody waits for its word
  expect_replayed();
}

TEST_F(LentNodes, TheNextNodeTakesThePlaceOfOneThatLeft) {
  for (const char* name : {"a", "b", "c"}) join(node_with(name, 1));
  remove("b");
  expect_replayed();
  remove("c");
  EXPECT_EQ(state_.indexes.node_ids, std::vector<NodeId>{{"a"}});
  for (const char* name : {"d", "e"}) join(node_with(name, 2));
  EXPECT_EQ(state_.indexes.node_ids, (std::vector<NodeId>{{"a"}, {"d"}, {"e"}}));
  remove("a");
  join(node_with("f", 4));
  EXPECT_EQ(state_.nodes.at({"f"}).ordinal, 0u);
  const JobId id = submit(request_for(8));
  EXPECT_EQ(job(id).attempt->allocation.nodes, 3);
  expect_replayed();
}

TEST_F(LentNodes, ATaskThereEndsAtNoCostAndWithoutAFence) {
  join(node_with("a", 1));
  const JobId id = submit(request_for(1));
  report(node_with("a", 1));
  ASSERT_EQ(state_of(id), JobState::running);
  remove("a");
  EXPECT_EQ(state_of(id), JobState::queued);
  EXPECT_EQ(job(id).retries.failures, 0);
  remove("a");
  EXPECT_TRUE(state_.nodes.empty());
  join(node_with("b", 1));
  EXPECT_EQ(state_of(id), JobState::starting);
  EXPECT_FALSE(job(id).attempt->fenced);
}

TEST_F(LentNodes, ANodeStaysWhileAnAttemptHasATaskThere) {
  join(node_with("a", 1));
  join(node_with("b", 1));
  const JobId id = submit(request_for(2));
  report(node_with("a", 1));
  report(node_with("b", 1));
  remove("a");
  EXPECT_EQ(state_of(id), JobState::stopping);
  EXPECT_TRUE(state_.nodes.contains({"a"}));
  EXPECT_FALSE(state_.nodes.at({"a"}).usable());
  report(node_with("b", 1), {{task(id, 1), {0, 15, "", ExitCause::ordered}}});
  EXPECT_EQ(state_of(id), JobState::queued);
  remove("a");
  EXPECT_FALSE(state_.nodes.contains({"a"}));
}

TEST_F(LentNodes, ToRemoveANodeThatIsNotThereIsNoMistake) {
  const auto answer = turn(RemoveNode{{"a"}, ""});
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->empty());
}

TEST_F(LentNodes, NoJobStartsThatWouldOutliveTheLoan) {
  NodeDescription node = node_with("a", 2);
  node.labels[std::string(kLoanEnds)] = std::to_string(to_millis(now_ + hours(1)) / 1000);
  join(node);
  JobRequest request = request_for(1);
  request.walltime = hours(1) + minutes(1);
  const JobId tall = submit(request);
  request.walltime = minutes(59);
  const JobId small = submit(request);
  EXPECT_EQ(state_of(tall), JobState::queued);
  EXPECT_EQ(state_of(small), JobState::starting);
}

TEST_F(LentNodes, ALoanWithoutAReadableEndHasNone) {
  for (const char* text : {"", "soon", "-1", "12x", "999999999999999999", "99999999999999999999999"}) {
    NodeDescription node = node_with("a", 1);
    node.labels[std::string(kLoanEnds)] = text;
    EXPECT_FALSE(end_of_loan(node)) << text;
  }
  EXPECT_FALSE(end_of_loan(node_with("a", 1)));
}

class NodesOnDemand : public ClusterTest {
 protected:
  NodesOnDemand() {
    OnDemandNodes offered;
    offered.devices = 4;
    offered.nodes = 3;
    offered.labels = {{"slurm-partition", "main"}};
    offered.walltime = hours(10);
    state_.scheduling.on_demand = offered;
    join(node_with("own", 1));
  }
  bool accepted(const JobRequest& request) { return turn(SubmitExperiment{"test", {request}}).ok(); }
};

TEST_F(NodesOnDemand, JobsThatTheyCouldHoldAreAccepted) {
  JobRequest request = request_for(12);
  request.walltime = hours(10);
  EXPECT_TRUE(accepted(request));
  EXPECT_EQ(plan_.blocked.begin()->second.code, BlockerCode::devices);
  request.nodes = {{"slurm-partition", "main"}};
  EXPECT_TRUE(accepted(request));
  request = request_for(3, 1);
  request.walltime = hours(1);
  EXPECT_TRUE(accepted(request));
}

TEST_F(NodesOnDemand, OthersAreRefusedAsEver) {
  JobRequest request = request_for(13);
  request.walltime = hours(1);
  EXPECT_FALSE(accepted(request));
  request = request_for(12);
  request.walltime = hours(10) + minutes(1);
  EXPECT_FALSE(accepted(request));
  request.walltime = hours(1);
  request.kind = "gpu";
  EXPECT_FALSE(accepted(request));
  request.kind = "cpu";
  request.nodes = {{"rack", "r1"}};
  EXPECT_FALSE(accepted(request));
  request.nodes.clear();
  request.per_node = 5;
  request.devices = 10;
  EXPECT_FALSE(accepted(request));
}

}  // namespace
}  // namespace podium
