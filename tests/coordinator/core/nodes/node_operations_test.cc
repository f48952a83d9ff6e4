// Draining, maintenance windows, reservations and labels that operators give.
#include <nlohmann/json.hpp>

#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

class NodeOperations : public ClusterTest {
 protected:
  NodeOperations() {
    join(node_);
    turn(ChangeAccount{"nlp", {}, {}, {}});
  }

  JobId submit_for(Duration walltime) {
    JobRequest request = request_for(1);
    request.walltime = walltime;
    return submit(request);
  }
  const Node& node() { return state_.nodes.at(node_.id); }
  std::string refusal(const Command& command) {
    const auto answer = turn(command);
    return answer ? "" : answer.errors()[0].message;
  }

  NodeDescription node_ = node_with("node-1", 2);
};

TEST_F(NodeOperations, ADrainedNodeFinishesItsJobsAndGetsNoOthers) {
  const JobId running = submit(request_for(1));
  report(node_);
  turn(DrainNode{node_.id, "new fans", {}, {}});
  const JobId waiting = submit(request_for(1));
  EXPECT_EQ(state_of(running), JobState::running);
  EXPECT_EQ(state_of(waiting), JobState::queued);
  report(node_, {{task(running, 0), {}}});
  EXPECT_EQ(state_of(waiting), JobState::queued);
  turn(ResumeNode{node_.id});
  EXPECT_EQ(state_of(waiting), JobState::starting);
}

TEST_F(NodeOperations, OutliveTheNodesLossAndTheCoordinatorsRestart) {
  turn(DrainNode{node_.id, "new fans", {}, {}});
  turn(LabelNode{node_.id, {{"partition", "nlp"}}});
  wait(130);
  ASSERT_EQ(node().state, NodeState::lost);
  node_.boot = "boot-2";
  join(node_);
  const ClusterState again = cluster_state_from_json(to_json(state_), ClusterState{});
  for (const ClusterState* state : {&std::as_const(state_), &again}) {
    const Node& back = state->nodes.at(node_.id);
    EXPECT_EQ(back.state, NodeState::up);
    EXPECT_EQ(back.drain, (Drain{"new fans", {}, {}}));
    EXPECT_FALSE(back.usable());
    EXPECT_EQ(labels_of(back), (Labels{{"partition", "nlp"}}));
  }
}

TEST_F(NodeOperations, OperatorsLabelsGoBeforeTheAgents) {
  node_.labels = {{"rack", "r1"}, {"partition", "all"}};
  report(node_);
  turn(LabelNode{node_.id, {{"partition", "nlp"}}});
  EXPECT_EQ(labels_of(node()), (Labels{{"partition", "nlp"}, {"rack", "r1"}}));
  turn(LabelNode{node_.id, {{"partition", std::nullopt}}});
  EXPECT_EQ(labels_of(node()), node_.labels);
}

TEST_F(NodeOperations, AJobStartsBeforeAWindowOnlyIfItEndsBeforeIt) {
  turn(DrainNode{node_.id, "", now_ + hours(2), now_ + hours(3)});
  const JobId tall = submit_for(hours(3));
  const JobId small = submit_for(hours(1));
  EXPECT_EQ(state_of(tall), JobState::queued);
  EXPECT_EQ(state_of(small), JobState::starting);
  EXPECT_EQ(reason(tall), "fits now, but its walltime reaches into the maintenance of node-1");
  ASSERT_EQ(plan_.reservations.size(), 1u);
  EXPECT_EQ(plan_.reservations[0].at, now_ + hours(3)) << "it is promised the end of the window";
}

TEST_F(NodeOperations, AWindowEndsByItself) {
  turn(DrainNode{node_.id, "", {}, now_ + minutes(10)});
  const JobId id = submit_for(hours(1));
  EXPECT_EQ(state_of(id), JobState::queued);
  EXPECT_EQ(next_tick(state_, now_), now_ + state_.limits.unknown_after);
  for (int i = 0; i < 120; ++i) {
    wait(5);
    report(node_);
  }
  EXPECT_EQ(state_of(id), JobState::running);
  EXPECT_FALSE(node().drain);
}

TEST_F(NodeOperations, AWindowOfOneNodeLeavesTheOthersOpen) {
  join(node_with("node-2", 2));
  turn(DrainNode{node_.id, "", now_ + minutes(1), {}});
  const JobId id = submit_for(hours(1));
  EXPECT_EQ(state_of(id), JobState::starting);
  EXPECT_EQ(job(id).attempt->allocation.ranks[0].node, NodeId{"node-2"});
}

TEST_F(NodeOperations, AReservedNodeTakesItsAccountsJobsAlone) {
  turn(ReserveNode{node_.id, "nlp", "deadline", {}, {}});
  JobRequest request = request_for(1);
  const JobId other = submit(request);
  request.account = "nlp/bert";
  const JobId own = submit(request);
  EXPECT_EQ(state_of(other), JobState::queued);
  EXPECT_EQ(state_of(own), JobState::starting);
  EXPECT_EQ(reason(other),
            "fits now, but its walltime reaches into the reservation of node-1 for account nlp");
  EXPECT_EQ(plan_.blocked.at(other).code, BlockerCode::reserved_nodes);
  turn(UnreserveNode{node_.id});
  EXPECT_EQ(state_of(other), JobState::starting);
}

TEST_F(NodeOperations, BeforeAReservationOthersStartIfTheyEndInTime) {
  turn(ReserveNode{node_.id, "nlp", "", now_ + hours(2), now_ + hours(5)});
  const JobId tall = submit_for(hours(3));
  const JobId small = submit_for(hours(1));
  EXPECT_EQ(state_of(tall), JobState::queued);
  EXPECT_EQ(state_of(small), JobState::starting);
  ASSERT_EQ(plan_.reservations.size(), 1u);
  EXPECT_EQ(plan_.reservations[0].at, now_ + hours(5)) << "it is promised the end of the reservation";
}

TEST_F(NodeOperations, AReservationEndsByItselfAndLeavesTheDrain) {
  turn(DrainNode{node_.id, "new fans", now_ + hours(9), {}});
  turn(ReserveNode{node_.id, "nlp", "", {}, now_ + minutes(1)});
  const JobId id = submit_for(hours(1));
  EXPECT_EQ(state_of(id), JobState::queued);
  for (int i = 0; i < 12; ++i) {
    wait(5);
    report(node_);
  }
  EXPECT_EQ(state_of(id), JobState::running);
  EXPECT_FALSE(node().reservation);
  EXPECT_TRUE(node().drain);
}

TEST_F(NodeOperations, AReservationOutlivesTheCoordinatorsRestart) {
  turn(ReserveNode{node_.id, "nlp", "deadline", now_ + hours(2), {}});
  const ClusterState again = cluster_state_from_json(to_json(state_), ClusterState{});
  EXPECT_EQ(again.nodes.at(node_.id).reservation, (NodeReservation{"nlp", "deadline", now_ + hours(2), {}}));
  EXPECT_TRUE(again.indexes.windows.contains(node_.id));
}

TEST_F(NodeOperations, RepeatingOneChangesNothing) {
  turn(DrainNode{node_.id, "new fans", {}, {}});
  EXPECT_EQ(turn(DrainNode{node_.id, "new fans", {}, {}})->size(), 0u);
  EXPECT_EQ(turn(LabelNode{node_.id, {{"gone", std::nullopt}}})->size(), 0u);
  turn(ResumeNode{node_.id});
  EXPECT_EQ(turn(ResumeNode{node_.id})->size(), 0u);
  turn(ReserveNode{node_.id, "nlp", "", {}, {}});
  EXPECT_EQ(turn(ReserveNode{node_.id, "nlp", "", {}, {}})->size(), 0u);
  turn(UnreserveNode{node_.id});
  EXPECT_EQ(turn(UnreserveNode{node_.id})->size(), 0u);
}

TEST_F(NodeOperations, RefuseWhatMakesNoSense) {
  EXPECT_EQ(refusal(DrainNode{{"node-9"}, "", {}, {}}),
            "there is no node node-9; \"podium nodes\" lists them");
  EXPECT_EQ(refusal(DrainNode{node_.id, "", {}, now_ - hours(1)}),
            "the window is over already; give a later end");
  EXPECT_EQ(refusal(DrainNode{node_.id, "", now_ + hours(2), now_ + hours(1)}),
            "the window must end after it begins");
  EXPECT_EQ(refusal(ReserveNode{node_.id, "nlp", "", {}, now_ - hours(1)}),
            "the window is over already; give a later end");
  EXPECT_NE(refusal(ReserveNode{node_.id, "a b", "", {}, {}}), "");
  EXPECT_EQ(refusal(ReserveNode{node_.id, "npl", "", {}, {}}),
            "there is no account npl; an operator makes it: podium accounts set npl");
  EXPECT_EQ(refusal(LabelNode{node_.id, {{"a b", "c"}}}),
            "the label key \"a b\" must have 1 to 63 letters, digits, \"-\", \"_\", \".\" and \"/\"");
  EXPECT_EQ(refusal(LabelNode{node_.id, {{"a", ""}}}),
            "the label value \"\" must have 1 to 63 letters, digits, \"-\", \"_\", \".\" and \"/\"");
}

}  // namespace
}  // namespace podium
