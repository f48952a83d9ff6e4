// Tasks that run and that this database never ordered: parked, shown, and not killed.
#include "tests/coordinator/core/restored_fixture.h"

namespace podium {
namespace {

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

// Nothing could let it end: neither an operator nor the agent that is gone.
TEST_F(RestoredDatabase, AJobWhoseNewerAttemptRanOnANodeThatIsLostCanBeReleased) {
  const JobId id = submit(request_for(1));
  turn(NodeReported{{node_, {running({{id, 7}, 0})}, 0}});
  ASSERT_TRUE(job(id).held);
  ASSERT_FALSE(turn(ReleaseJob{id}).ok());
  for (int i = 0; i < 40; ++i) wait(5);
  ASSERT_EQ(state_.nodes.at(node_.id).state, NodeState::lost);
  ASSERT_TRUE(turn(ReleaseJob{id}).ok());
  join(node_with("node-2", 1));
  EXPECT_EQ(job(id).attempt_id().number, 8);
  EXPECT_TRUE(job(id).attempt->fenced);
}

TEST_F(RestoredDatabase, AHoldForWhatRunsElsewhereSaysWhatToDoOfIt) {
  run_one();
  const JobId id = submit(request_for(1));
  turn(HoldJob{id});
  turn(NodeReported{{node_with("node-2", 1), {running({{id, 7}, 0})}, 0}});
  EXPECT_EQ(
      reason(id),
      "is held: attempt 7 of it was running on node-2, and this database, an older copy that was "
      "restored, does not know of that. It runs there still: podium nodes adopt node-2 lets it run to its "
      "end, podium nodes adopt node-2 --stop stops it; then podium release 2 runs it again");
}

TEST_F(RestoredDatabase, ATaskWhoseAttemptWasGivenToAnotherNodeAsWellIsParkedAndNotKilled) {
  for (const bool by_operator : {false, true}) {
    const JobId id = run_one();
    if (by_operator) turn(HoldJob{id});
    const NodeDescription other = node_with("node-2", 1);
    const TaskId twice = task(id, 0);
    const auto report_other = [&] { turn(NodeReported{{other, {running(twice)}, 0}}); };
    const auto is_kept = [&] {
      const NodeOrders orders = node_orders(state_, other.id);
      return orders.tasks.size() == 1 && orders.tasks[0].action == TaskAction::keep;
    };
    report_other();
    EXPECT_EQ(state_.nodes.at(other.id).unknown, std::vector<TaskId>{twice});
    EXPECT_TRUE(is_kept());
    EXPECT_EQ(state_of(id), JobState::running);
    EXPECT_NE(job(id).held_because, "") << "how that one ends is not known here";
    report(node_, {{twice, TaskExit{1, 0, ""}}});
    EXPECT_EQ(state_of(id), JobState::queued);
    report_other();
    EXPECT_TRUE(is_kept()) << "also when the job waits";
    EXPECT_FALSE(turn(ReleaseJob{id}).ok());
    turn(CoordinatorUp{});
    state_.nodes.at(other.id).unknown.clear();  // as after a start from the log
    report_other();
    EXPECT_TRUE(is_kept()) << "also after a restart";
    ASSERT_TRUE(turn(CancelJob{id}).ok());
    report_other();
    EXPECT_TRUE(is_kept()) << "also when the job is over";
    turn(NodeReported{{other, {}, 0}});
    report(node_);
    EXPECT_TRUE(state_.nodes.at(other.id).unknown.empty());
  }
}

// Its agent was started with another --name on the same home.
TEST_F(RestoredDatabase, TasksOfANodeThatWasRenamedAreNotTakenForUnknown) {
  node_.key = "key";
  report(node_);
  const JobId id = run_one();
  NodeDescription renamed = node_with("renamed", 1);
  renamed.key = node_.key;
  turn(NodeReported{{renamed, {running(task(id, 0))}, 0}});
  EXPECT_TRUE(state_.nodes.at(renamed.id).unknown.empty());
  EXPECT_FALSE(job(id).held);
}

}  // namespace
}  // namespace podium
