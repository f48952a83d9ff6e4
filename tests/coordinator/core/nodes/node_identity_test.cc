// Whose node it is: one agent's, of one cluster, with one shared folder.
#include "tests/coordinator/core/nodes_fixture.h"

namespace podium {
namespace {

using NodeIdentity = Nodes;

TEST_F(NodeIdentity, ANodeWithAnotherSharedFolderIsRefused) {
  node_.shared = "one";
  join(node_);
  NodeDescription other = node_with("node-2", 1);
  other.shared = "two";
  const auto answer = turn(NodeReported{{other, {}, 0}});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.errors()[0].code, ErrorCode::conflict);
  EXPECT_EQ(answer.errors()[0].message.find("the shared folder of node-2 is not that of node-1"), 0u);
  wait(60);
  EXPECT_FALSE(turn(NodeReported{{other, {}, 0}}).ok()) << "lost, but its tasks may run";
  turn(DrainNode{node_.id, "gone", std::nullopt, std::nullopt});
  EXPECT_TRUE(turn(NodeReported{{other, {}, 0}}).ok());
  EXPECT_FALSE(turn(NodeReported{{node_, {}, 0}}).ok()) << "now it is the stranger";
}

TEST_F(NodeIdentity, SharedFoldersAreNotComparedWhereNothingIsShared) {
  NodeDescription other = node_with("node-2", 1), without = node_with("node-3", 1);
  node_.shared = "one", other.shared = "two";
  join(node_);
  EXPECT_TRUE(turn(NodeReported{{without, {}, 0}}).ok()) << "it has none";
  state_.limits.shared = false;
  EXPECT_TRUE(turn(NodeReported{{other, {}, 0}}).ok()) << "nobody raises fences there";
}

TEST_F(NodeIdentity, ANodeOfAnotherClusterIsOrderedNothingUnlessAnOperatorSaysSo) {
  state_.cluster = {"ours", 3};
  const JobId id = submit(request_for(1));
  const TaskId same_number = task(id, 0);
  NodeReport report{node_, {{same_number, TaskState::running, 9, {}}}, 0};
  report.cluster = {"theirs", 8};
  turn(NodeReported{report});
  EXPECT_EQ(state_of(id), JobState::starting) << "it is not this job's";
  EXPECT_EQ(state_.nodes.at(node_.id).stranger, "theirs");
  EXPECT_TRUE(node_orders(state_, node_.id).tasks.empty());
  EXPECT_EQ(node_orders(state_, node_.id).cluster.id, "ours") << "so that its agent does not follow";
  turn(AdoptNode{node_.id, false});
  EXPECT_EQ(node_orders(state_, node_.id).cluster.id, "theirs");
  ASSERT_EQ(node_orders(state_, node_.id).tasks.size(), 1u);
  EXPECT_EQ(node_orders(state_, node_.id).tasks[0].launch.secret, "");
  turn(NodeReported{{node_, {}, 0}});
  EXPECT_EQ(node_orders(state_, node_.id).cluster.id, "ours");
  EXPECT_EQ(node_orders(state_, node_.id).tasks.at(0).launch.task, same_number) << "now it is";
}

// Two agents of one name both ran its tasks, and each sync of one made a durable event.
TEST_F(NodeIdentity, ASecondAgentOfANameIsRefusedWithAWayOutAndWithoutEvents) {
  NodeDescription first = node_with("node-2", 1);
  first.key = "key-1";
  join(first);
  NodeDescription second = first;
  second.key = "key-2";
  second.boot = "boot-9";
  const ClusterState before = state_;
  for (int i = 0; i < 3; ++i) {
    const Result<Events> refused = turn(NodeReported{{second, {}, 0}});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.errors().at(0).code, ErrorCode::conflict);
    const std::string& message = refused.errors().at(0).message;
    for (const char* part : {"node node-2 belongs to another agent", "--name", "podium nodes", "lost"})
      EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  EXPECT_EQ(state_, before);
  second.key = "";
  EXPECT_FALSE(turn(NodeReported{{second, {}, 0}}).ok()) << "an agent of before, without a key";
}

TEST_F(NodeIdentity, ALostNodeMayBeTakenOverAndItsOldAgentIsThenTheStranger) {
  NodeDescription first = node_with("node-2", 1);
  first.key = "key-1";
  join(first);
  wait(30);
  NodeDescription second = first;
  second.key = "key-2";
  EXPECT_FALSE(turn(NodeReported{{second, {}, 0}}).ok()) << "unknown is not lost";
  wait(static_cast<int>(state_.limits.lost_after / std::chrono::seconds(1)));
  ASSERT_EQ(state_.nodes.at(first.id).state, NodeState::lost);
  EXPECT_TRUE(turn(NodeReported{{second, {}, 0}}).ok());
  EXPECT_FALSE(turn(NodeReported{{first, {}, 0}}).ok());
}

TEST_F(NodeIdentity, ACopyOfAnAgentsHomeIsRefusedOnceTheOtherReports) {
  node_.key = "key-1";
  join(node_);
  NodeDescription copy = node_;
  copy.boot = "boot-of-the-copy";
  EXPECT_TRUE(turn(NodeReported{{copy, {}, 0}}).ok()) << "it might have been started again";
  const Result<Events> refused = turn(NodeReported{{node_, {}, 0}});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.errors().at(0).message.find("delete `id`"), std::string::npos);
  EXPECT_TRUE(turn(NodeReported{{copy, {}, 0}}).ok());
}

TEST_F(NodeIdentity, AnAgentWhoseHomesCopyHasGoneIsLetInAgainForGood) {
  NodeDescription agent = node_with("node-7", 1), copy = agent;
  agent.key = copy.key = "key";
  copy.boot = "boot-of-the-copy";
  join(agent);
  join(copy);
  EXPECT_FALSE(turn(NodeReported{{agent, {}, 0}}).ok()) << "its copy goes on";
  wait(65);
  ASSERT_EQ(state_.nodes.at(agent.id).state, NodeState::lost);
  EXPECT_TRUE(turn(NodeReported{{agent, {}, 0}}).ok());
  EXPECT_TRUE(turn(NodeReported{{agent, {}, 0}}).ok());
}

}  // namespace
}  // namespace podium
