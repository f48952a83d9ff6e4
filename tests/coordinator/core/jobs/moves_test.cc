// Jobs that a node cannot run, and where they go then.
#include "tests/coordinator/core/jobs/lifecycle_fixture.h"

namespace podium {
namespace {

TEST_F(Lifecycle, MovesAwayFromANodeThatLacksItsDevice) {
  const JobId id = submit(request_for(1));
  const NodeId first = job(id).attempt->allocation.ranks[0].node;
  report(one_, {{task(id, 0), {static_cast<int>(WorkerExit::no_device), 0, ""}}});
  EXPECT_NE(job(id).attempt->allocation.ranks[0].node, first);
  EXPECT_EQ(job(id).retries.moves, 1);
  EXPECT_EQ(job(id).retries.failures, 0);
}

TEST_F(Lifecycle, NodesMayTakeAJobOnlySoOften) {
  const JobId id = run_gang();
  int taken = 0;
  for (; taken < 2 * kLosses && state_.jobs.contains(id); ++taken) {
    fail_rank(id, 0, {0, 0, "", ExitCause::agent_stopped});
    fail_rank(id, 1, {0, 0, "", ExitCause::ordered});
    for (int i = 0; i < 70 && state_.jobs.contains(id); ++i) {
      wait(5);
      report(one_);
      report(two_);
    }
  }
  EXPECT_EQ(taken, kLosses + 1);
}

// A node with a full disk failed one job after the other for good; and a job was tried on it without end.
TEST_F(Lifecycle, ANodeThatCannotStartTasksIsAvoidedAndCostsNoRestart) {
  const TaskExit full{0, 0, "the disk of this node is full: make room in /var/podium",
                      ExitCause::not_started};
  const JobId id = submit(request_for(1));
  const NodeId first = job(id).attempt->allocation.ranks[0].node;
  report(first == one_.id ? one_ : two_, {{task(id, 0), full}});
  EXPECT_EQ(state_of(id), JobState::starting);
  EXPECT_NE(job(id).attempt->allocation.ranks[0].node, first);
  EXPECT_EQ(job(id).retries.failures, 0);
  EXPECT_TRUE(state_.indexes.suspects.contains(first));

  int tries = 1;
  for (int i = 0; i < 10'000 && state_.jobs.contains(id); ++i) {
    for (const auto* node : {&one_, &two_})
      if (state_.jobs.contains(id) && job(id).attempt &&
          job(id).attempt->allocation.ranks[0].node == node->id) {
        ++tries;
        report(*node, {{task(id, 0), full}});
      }
    wait(5);
    report(one_);
    report(two_);
  }
  EXPECT_EQ(tries, kLosses + 1) << "however long it lasts";
}

// It was tried six times, on the same node where that was the only one.
TEST_F(Lifecycle, AProgramThatIsMissingIsTriedOnOneOtherNode) {
  const TaskExit missing{127, 0, "cannot run ./train: No such file or directory", ExitCause::cannot_run};
  JobRequest request = request_for(1);
  request.command = true;
  request.max_restarts = 5;
  const JobId id = submit(request);
  const NodeId first = job(id).attempt->allocation.ranks[0].node;
  const auto node_of = [&](const NodeId& node) -> const NodeDescription& {
    return node == one_.id ? one_ : two_;
  };
  report(node_of(first), {{task(id, 0), missing}});
  ASSERT_EQ(state_of(id), JobState::starting);
  const NodeId second = job(id).attempt->allocation.ranks[0].node;
  EXPECT_NE(second, first);
  NodeReport last{node_of(second), {{task(id, 0), TaskState::exited, 0, missing}}, 0};
  const auto events = turn(NodeReported{last});
  EXPECT_FALSE(state_.jobs.contains(id));
  const std::string said = "rank 0 on " + second.value + ": cannot run ./train: No such file or directory";
  EXPECT_EQ(find<AttemptEnded>(events)->reason, said);
  ASSERT_TRUE(events.ok());
  const auto* failed = std::get_if<JobStateChanged>(&events->back().body);
  ASSERT_TRUE(failed && failed->to == JobState::failed);
  EXPECT_EQ(failed->reason, said + "; nor could it run on " + first.value);
}

TEST_F(Lifecycle, AProgramThatIsMissingOnTheOnlyNodeFailsAtOnce) {
  turn(LabelNode{{"node-1"}, {{"rack", "a"}}});
  JobRequest request = request_for(1);
  request.nodes["rack"] = "a";
  const JobId id = submit(request);
  const TaskExit missing{127, 0, "cannot enter the working folder /work: Not a directory",
                         ExitCause::cannot_run};
  report(one_, {{task(id, 0), missing}});
  EXPECT_FALSE(state_.jobs.contains(id));
}

// Other nodes are known to have it.
TEST_F(Lifecycle, AProgramThatHasRunGoesBackToWhereItIs) {
  const JobId id = submit(request_for(1));
  const auto node_of = [&](JobId of) -> const NodeDescription& {
    return job(of).attempt->allocation.ranks[0].node == one_.id ? one_ : two_;
  };
  report(node_of(id));
  wait(5);
  turn(RequeueJob{id});
  report(node_of(id), {{task(id, 0), {79, 0, "", ExitCause::ordered}}});
  const TaskExit missing{127, 0, "cannot run ./train: No such file or directory", ExitCause::cannot_run};
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(job(id).attempt) << i;
    report(node_of(id), {{task(id, 0), missing}});
    ASSERT_TRUE(state_.jobs.contains(id)) << i;
    wait(10);
    report(one_);
    report(two_);
  }
}

TEST_F(Lifecycle, AFullCheckpointFolderIsTriedAgainAfterAPause) {
  const JobId id = submit(request_for(1));
  report(one_, {{task(id, 0), {static_cast<int>(WorkerExit::disk_full), 0, "step-20"}}});
  ASSERT_TRUE(state_.jobs.contains(id)) << "failed for good";
  EXPECT_EQ(state_of(id), JobState::queued);
  EXPECT_EQ(job(id).not_before, now_ + kShortestWait);
  EXPECT_EQ(job(id).retries.failures, 0);
}

TEST_F(Lifecycle, TheOnlyNodeThereIsIsNotAvoided) {
  JobRequest request = request_for(1);
  request.nodes["rack"] = "a";
  turn(LabelNode{{"node-1"}, {{"rack", "a"}}});
  const JobId id = submit(request);
  report(one_, {{task(id, 0), {static_cast<int>(WorkerExit::no_device), 0, ""}}});
  EXPECT_EQ(job(id).retries.moves, 1);
  EXPECT_EQ(job(id).avoid, (std::vector<NodeId>{{"node-1"}}));
  EXPECT_EQ(state_of(id), JobState::starting) << "no other could hold it";
}

TEST_F(Lifecycle, AvoidedNodesAreForgivenAfterAnHourOrWhenAnOperatorResumesThem) {
  for (const bool resumed : {false, true}) {
    const JobId id = submit(request_for(1));
    const NodeId first = job(id).attempt->allocation.ranks[0].node;
    const NodeDescription& node = first == one_.id ? one_ : two_;
    turn(DrainNode{first == one_.id ? two_.id : one_.id, "", {}, {}});
    report(node, {{task(id, 0), {static_cast<int>(WorkerExit::no_device), 0, ""}}});
    EXPECT_TRUE(job(id).avoids(now_));
    if (resumed) {
      turn(ResumeNode{first});
      EXPECT_TRUE(job(id).avoid.empty());
    } else {
      EXPECT_FALSE(job(id).avoids(now_ + kAvoidFor));
    }
    turn(CancelJob{id});
    if (find_job(state_, id))
      report(job(id).attempt->allocation.ranks[0].node == one_.id ? one_ : two_,
             {{task(id, 0), {0, 15, ""}}});
    turn(ResumeNode{one_.id});
    turn(ResumeNode{two_.id});
  }
}

TEST_F(Lifecycle, ProgressForgivesMoves) {
  const JobId id = submit(request_for(1));
  for (int move = 0; move < 2 * kMoves; ++move) {
    const NodeDescription& node = job(id).attempt->allocation.ranks[0].node == one_.id ? one_ : two_;
    report(node);
    turn(CheckpointSaved{job(id).attempt_id(), 100 * (move + 1)});
    report(node, {{task(id, 0), {static_cast<int>(WorkerExit::no_device), 0, ""}}});
    ASSERT_TRUE(find_job(state_, id)) << "move " << move;
    wait(state_of(id) == JobState::queued ? 400 : 0);
    report(one_);
    report(two_);
  }
}

TEST(Conclude, AJobSurvivesAHundredLostNodesAndNoMore) {
  Job job;
  job.id = {1};
  Attempt& attempt = job.attempt.emplace();
  attempt.allocation.ranks = {{{"node-1"}, 0, 0, 1, 0, 0}};
  attempt.tasks.resize(1);
  attempt.tasks[0] = {TaskPhase::lost, 1, true, false, TaskExit{-1, 0, "no word"}, {}};
  attempt.stop = StopCause::node_lost;
  job.retries.losses = 99;
  EXPECT_EQ(conclude({}, job, attempt.created).next, JobState::queued);
  job.retries.losses = 100;
  EXPECT_EQ(conclude({}, job, attempt.created).next, JobState::failed);
}

}  // namespace
}  // namespace podium
