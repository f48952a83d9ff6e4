// A database older than what the nodes run: no number and no attempt is given twice.
#include "tests/coordinator/core/nodes_fixture.h"

namespace podium {
namespace {

using RestoredDatabase = Nodes;

// As after an older copy of the database was restored.
TEST_F(RestoredDatabase, TasksOfALaterTimeAreParkedAndTheirNumbersNotGivenAgain) {
  const JobId id = run_one();
  const TaskId later{{{40}, 2}, 0}, next_attempt{{id, 7}, 0};
  NodeReport report{
      node_, {{later, TaskState::running, 9, {}}, {next_attempt, TaskState::running, 8, {}}}, 0};
  report.highest_job = 44;
  turn(NodeReported{report});
  const auto actions = [&] {
    std::map<TaskId, TaskAction> found;
    for (const TaskOrder& order : node_orders(state_, node_.id).tasks)
      found[order.launch.task] = order.action;
    return found;
  };
  EXPECT_EQ(state_.nodes.at(node_.id).unknown, (std::vector<TaskId>{later, next_attempt}));
  EXPECT_NE(actions().at(later), TaskAction::stop);
  EXPECT_TRUE(job(id).held) << "a later attempt of it runs";
  EXPECT_EQ(submit(request_for(1)), JobId{45});
  turn(NodeReported{report});
  EXPECT_EQ(state_.nodes.at(node_.id).unknown.size(), 2u) << "the skipped numbers are nobody's here";
  const auto version = node_orders(state_, node_.id).version;
  ASSERT_TRUE(turn(AdoptNode{node_.id, true}).ok());
  EXPECT_EQ(actions().at(later), TaskAction::stop);
  EXPECT_GT(node_orders(state_, node_.id).version, version);
  turn(NodeReported{{node_, {}, 0}});
  EXPECT_FALSE(actions().contains(later));
  EXPECT_FALSE(turn(AdoptNode{node_.id, true}).ok()) << "there is nothing to adopt any more";
}

TEST_F(RestoredDatabase, AJobWhoseNewerAttemptRunsUnknownIsNotReleasedIntoIt) {
  const JobId id = submit(request_for(1));
  NodeReport report{node_, {{{{id, 7}, 0}, TaskState::running, 9, {}}}, 0};
  turn(NodeReported{report});
  ASSERT_TRUE(job(id).held);
  const auto refused = turn(ReleaseJob{id});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.errors()[0].message.find("podium nodes adopt node-1 --stop"), std::string::npos);
  report.tasks.clear();
  turn(NodeReported{report});
  EXPECT_TRUE(turn(ReleaseJob{id}).ok());
}

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

TEST_F(RestoredDatabase, AFolderOfAnAbsurdNumberTakesNoNumbersAway) {
  NodeReport report{node_, {}, 0};
  report.highest_job = 900'000'000;
  report.tasks.push_back({{{{800'000'000}, 1}, 0}, TaskState::running, 9, {}});
  turn(NodeReported{report});
  EXPECT_EQ(submit(request_for(1)), JobId{1});
}

}  // namespace
}  // namespace podium
