// Nodes that report but do not start or end what they were told to: nobody waits for them for ever.
#include <nlohmann/json.hpp>

#include "coordinator/core/accounts/account_ledger.h"
#include "coordinator/core/state/time_text.h"
#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

class Deadlines : public ClusterTest {
 protected:
  Deadlines() {
    for (int n = 1; n <= 4; ++n) {
      nodes_.push_back(node_with("node-" + std::to_string(n), 1));
      join(nodes_.back());
    }
  }

  // A gang with one rank on every node.
  JobId run_gang() {
    const JobId id = submit(request_for(4, 1));
    for (const NodeDescription& node : nodes_) report(node);
    EXPECT_EQ(state_of(id), JobState::running);
    return id;
  }

  // All ranks but the last leave; that one runs on, however long it is told to stop.
  void leave_but_the_last(JobId id) {
    for (int rank = 0; rank < 3; ++rank)
      report(nodes_[static_cast<std::size_t>(rank)], {{task(id, rank), {0, 15, ""}}});
  }

  // Seconds in which all nodes report: what they are told to run, runs, also what they are told to stop.
  void wait_reporting(int seconds) {
    for (int i = 0; i < seconds; i += 5) {
      now_ += std::chrono::seconds(5);
      for (const NodeDescription& node : nodes_) report(node);
      turn(Tick{});
    }
  }

  // What a rank has whose gang has lost another.
  Duration grace_after_a_failure(Duration own) {
    JobRequest request = request_for(2, 1);
    request.grace = own;
    const JobId id = submit(request);
    for (const NodeDescription& node : nodes_) report(node);
    report(nodes_[0], {{task(id, 0), {1, 0, ""}}});
    EXPECT_EQ(state_of(id), JobState::stopping);
    return node_orders(state_, {"node-2"}).tasks.at(0).launch.grace;
  }

  const Node& last() { return state_.nodes.at({"node-4"}); }

  std::vector<NodeDescription> nodes_;
};

TEST_F(Deadlines, ATaskThatHasEndedFreesItsDeviceWhileOthersStillStop) {
  const JobId id = run_gang();
  const JobId next = submit(request_for(3, 1));
  turn(CancelJob{id});
  EXPECT_EQ(state_of(next), JobState::queued);
  leave_but_the_last(id);
  EXPECT_EQ(state_of(id), JobState::stopping);
  EXPECT_EQ(state_of(next), JobState::starting);
  EXPECT_EQ(job(id).allocated_devices(), 1);
  EXPECT_EQ(AccountLedger(state_, "cpu").allocated("default"), 4);
}

TEST_F(Deadlines, OneRankThatDoesNotEndHoldsItsGangNoLongerThanItsDeadline) {
  const JobId id = run_gang();
  const TaskId stuck = task(id, 3);
  turn(CancelJob{id});
  leave_but_the_last(id);
  wait_reporting(115);
  EXPECT_EQ(state_of(id), JobState::stopping);
  EXPECT_FALSE(last().drain);
  const Time stopped = *job(id).attempt->stopping;
  wait_reporting(5);
  EXPECT_FALSE(find_job(state_, id)) << "it is cancelled, as it was asked to be";
  ASSERT_TRUE(last().drain);
  EXPECT_EQ(last().drain->reason,
            "could not end rank 3 of job 1 (process 1), which was told to stop at " + time_text(stopped));

  turn(ResumeNode{{"node-4"}});
  const JobId next = submit(request_for(4, 1));
  EXPECT_EQ(state_of(next), JobState::queued)
      << "its device is taken until its agent says that the task is gone";
  turn(NodeReported{{nodes_[3], {{stuck, TaskState::running, 1, {}}}, 0}});
  EXPECT_EQ(state_of(next), JobState::queued);
  turn(NodeReported{{nodes_[3], {{stuck, TaskState::exited, 1, TaskExit{0, 9, ""}}}, 0}});
  EXPECT_EQ(state_of(next), JobState::starting);
}

// A node that lets its task save for as long as the job asked was drained, and the checkpoint lost.
TEST_F(Deadlines, AJobsOwnGraceIsAddedToTheNodesTime) {
  JobRequest request = request_for(4, 1);
  request.grace = std::chrono::minutes(5);
  const JobId id = submit(request);
  for (const NodeDescription& node : nodes_) report(node);
  EXPECT_EQ(node_orders(state_, {"node-4"}).tasks.at(0).launch.grace, request.grace);
  turn(RequeueJob{id});
  leave_but_the_last(id);
  EXPECT_EQ(reason(id), "waits for rank 3 on node-4 (process 1) to end, at most until " +
                            time_text(now_ + std::chrono::seconds(390)));
  wait_reporting(385);
  EXPECT_EQ(state_of(id), JobState::stopping);
  EXPECT_FALSE(last().drain);
  wait_reporting(5);
  EXPECT_EQ(state_of(id), JobState::queued);
  EXPECT_TRUE(last().drain);
}

TEST_F(Deadlines, ABrokenGangGetsNoMoreThanTheUsualGrace) {
  EXPECT_EQ(grace_after_a_failure(std::chrono::minutes(5)), kUsualGrace);
}

TEST_F(Deadlines, ABrokenGangGetsNoMoreThanItsOwnGrace) {
  EXPECT_EQ(grace_after_a_failure(std::chrono::seconds(10)), std::chrono::seconds(10));
}

TEST_F(Deadlines, AJobThatWasPreemptedGoesOnWithoutTheRankThatDoesNotEnd) {
  const JobId id = run_gang();
  turn(RequeueJob{id});
  leave_but_the_last(id);
  wait_reporting(125);
  EXPECT_EQ(state_of(id), JobState::queued);
  EXPECT_EQ(job(id).retries.losses, 1);
  EXPECT_EQ(job(id).retries.failures, 0);
  EXPECT_TRUE(last().drain);
}

TEST_F(Deadlines, AnOperatorsDrainKeepsItsReason) {
  const JobId id = run_gang();
  turn(DrainNode{{"node-4"}, "new fans", {}, {}});
  turn(CancelJob{id});
  wait_reporting(125);
  EXPECT_FALSE(find_job(state_, id));
  EXPECT_EQ(last().drain->reason, "new fans");
  EXPECT_TRUE(state_.nodes.at({"node-1"}).drain) << "which did not end its rank either";
}

TEST_F(Deadlines, ANodeThatWasSilentGetsAllOfItsTime) {
  const JobId id = run_gang();
  turn(CancelJob{id});
  leave_but_the_last(id);
  wait(50);  // all are silent, and it has not read its orders
  wait_reporting(100);
  EXPECT_EQ(state_of(id), JobState::stopping);
  EXPECT_FALSE(last().drain);
  wait_reporting(25);
  EXPECT_FALSE(find_job(state_, id));
}

TEST_F(Deadlines, TheCoordinatorsOwnAbsenceCountsForNoDeadline) {
  const JobId id = run_gang();
  turn(CancelJob{id});
  leave_but_the_last(id);
  for (const bool restarted : {true, false}) {
    now_ += std::chrono::hours(1);  // without a restart: a clock that leaps, or a machine that slept
    if (restarted) turn(CoordinatorUp{});
    turn(Tick{});
    wait_reporting(10);
    EXPECT_EQ(state_of(id), JobState::stopping);
  }
}

TEST_F(Deadlines, AJobThatStopsTellsWhomItWaitsFor) {
  const JobId id = run_gang();
  turn(CancelJob{id});
  leave_but_the_last(id);
  const std::string until = time_text(now_ + state_.limits.stop_within);
  EXPECT_TRUE(turn(CancelJob{id})->empty()) << "asked twice, told once";
  EXPECT_EQ(reason(id), "waits for rank 3 on node-4 (process 1) to end, at most until " + until);
  const auto answer = turn(RequeueJob{id});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.errors()[0].message, "job 1 is being stopped and may end; requeue it once it has ended");
}

TEST_F(Deadlines, ATaskThatIsNotStartedMovesItsJobElsewhere) {
  const JobId id = submit(request_for(3, 1));
  for (int i = 0; i < 125; i += 5) {  // node-3 reports, and never lists what it was given
    now_ += std::chrono::seconds(5);
    for (const NodeDescription& node : nodes_)
      if (node.id.value != "node-3") report(node);
    turn(NodeReported{{nodes_[2], {}, node_orders(state_, {"node-3"}).version}});
    turn(Tick{});
  }
  EXPECT_EQ(state_of(id), JobState::stopping);
  EXPECT_EQ(node_orders(state_, {"node-3"}).tasks.at(0).action, TaskAction::stop) << "it may have just begun";
  report(nodes_[0], {{task(id, 0), {0, 15, ""}}});
  report(nodes_[1], {{task(id, 1), {0, 15, ""}}});
  NodeReport refused{nodes_[2], {}, 0};
  refused.tasks.push_back(
      {task(id, 2), TaskState::exited, 0, TaskExit{0, 15, "stopped before it was started"}});
  const auto events = turn(NodeReported{refused});
  EXPECT_EQ(find<AttemptEnded>(events)->reason, "rank 2 on node-3 was not started in time");
  ASSERT_EQ(state_of(id), JobState::starting);
  for (const Placement& place : job(id).attempt->allocation.ranks) EXPECT_NE(place.node.value, "node-3");
  EXPECT_EQ(job(id).retries.failures, 0);
  EXPECT_FALSE(state_.nodes.at({"node-3"}).drain);
}

// Inputs may be many gigabytes: the time to start begins once they are there.
TEST_F(Deadlines, ATaskWhoseInputsAreStagedStartsLate) {
  const JobId id = submit(request_for(3, 1));
  const auto report_staging = [&](int seconds, std::vector<TaskId> staging) {
    for (int i = 0; i < seconds; i += 5) {
      now_ += std::chrono::seconds(5);
      for (const NodeDescription& node : nodes_)
        if (node.id.value != "node-3") report(node);
      NodeReport waiting{nodes_[2], {}, node_orders(state_, {"node-3"}).version};
      waiting.staging = staging;
      turn(NodeReported{waiting});
      turn(Tick{});
    }
  };
  report_staging(1000, {task(id, 2)});
  ASSERT_EQ(state_of(id), JobState::starting);
  EXPECT_TRUE(job(id).attempt->tasks[2].staging);
  const auto snapshot = to_json(state_);
  ClusterState empty;
  const ClusterState restored = cluster_state_from_json(snapshot, empty);
  EXPECT_EQ(restored.jobs.at(id), job(id)) << "a restart knows it, too";
  report_staging(115, {});
  EXPECT_EQ(state_of(id), JobState::starting) << "it has its full time from then on";
  report_staging(10, {});
  EXPECT_EQ(state_of(id), JobState::stopping) << "and no longer";
}

TEST_F(Deadlines, ATaskThatStagesAndEndsHoldsNoOtherUp) {
  const JobId id = submit(request_for(2, 1));
  NodeReport staging{nodes_[0], {}, 0};
  staging.staging = {task(id, 0)};
  turn(NodeReported{staging});
  EXPECT_EQ(job(id).attempt->staging, 1);
  NodeReport ended{nodes_[0], {}, 0};
  ended.tasks.push_back({task(id, 0), TaskState::exited, 0, TaskExit{0, 0, "no x", ExitCause::refused}});
  turn(NodeReported{ended});
  EXPECT_EQ(job(id).attempt->staging, 0);
  EXPECT_EQ(state_of(id), JobState::stopping);
}

// What a coordinator of before wrote while a gang stopped: all its devices held, no time of the order to
// stop.
TEST_F(Deadlines, ASnapshotOfBeforeGivesBackWhatHasEnded) {
  const JobId id = run_gang();
  turn(CancelJob{id});
  leave_but_the_last(id);
  auto before = to_json(state_);
  before["jobs"][0]["attempt"].erase("stopping_ms");
  for (auto& node : before["nodes"]) {
    node.erase("heard_since_ms");
    node["devices"][0]["holder"] = id.value;
  }
  for (const char* of : {"usage", "own"}) before["accounts"]["default"][of]["cpu"]["devices"] = 4;
  ClusterState empty;
  state_ = cluster_state_from_json(before, empty);
  EXPECT_EQ(AccountLedger(state_, "cpu").allocated("default"), 1);
  turn(CoordinatorUp{});
  wait_reporting(100);
  EXPECT_EQ(state_of(id), JobState::stopping) << "it has its full time from now on";
  report(nodes_[3], {{task(id, 3), {0, 15, ""}}});
  EXPECT_EQ(AccountLedger(state_, "cpu").allocated("default"), 0);
  EXPECT_EQ(state_of(submit(request_for(4, 1))), JobState::starting);
}

}  // namespace
}  // namespace podium
