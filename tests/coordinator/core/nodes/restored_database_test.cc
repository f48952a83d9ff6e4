// A database older than what the nodes ran: what has ended does not run again, and no number is given twice.
#include <csignal>

#include "tests/coordinator/core/restored_fixture.h"

namespace podium {
namespace {

// Any agent could hold every job, and with another number in each report make an event of each.
TEST_F(RestoredDatabase, WhatANodeWasNotGivenHereIsBelievedOnlyOnceAnInterruption) {
  run_one();
  const JobId id = submit(request_for(1));
  ASSERT_EQ(state_of(id), JobState::queued);
  NodeReport report{node_, {running(task({1}, 0))}, 0};
  report.ended = {{id, 3}};
  EXPECT_FALSE(find<JobHeld>(turn(NodeReported{report})));
  report.interrupted = true;
  report.ended = {{id, 20'000}};
  EXPECT_FALSE(find<JobHeld>(turn(NodeReported{report}))) << "no database loses so many";
  report.ended = {{id, 3}};
  EXPECT_TRUE(find<JobHeld>(turn(NodeReported{report})));
}

TEST_F(RestoredDatabase, AFolderOfAnAbsurdNumberTakesNoNumbersAway) {
  NodeReport report{node_, {}, 0};
  report.highest_job = 900'000'000;
  report.tasks.push_back({{{{800'000'000}, 1}, 0}, TaskState::running, 9, {}});
  turn(NodeReported{report});
  EXPECT_EQ(submit(request_for(1)), JobId{1});
  tell_ended(node_, {{{800'000'000}, 1}, {{1}, 900'000'000}});
  EXPECT_FALSE(job({1}).held);
  EXPECT_EQ(submit(request_for(1)), JobId{2});
}

// It was cancelled, or succeeded, after the copy was taken.
TEST_F(RestoredDatabase, AJobThatEndedAfterTheCopyWasTakenDoesNotRunAgain) {
  turn(CoordinatorUp{});
  const JobId id = submit(request_for(1));
  tell_ended(node_, {{id, 3}});
  EXPECT_EQ(state_of(id), JobState::queued);
  EXPECT_EQ(job(id).held_because,
            "node-1 knows of an attempt of it that this database, an older copy that was restored, does not: "
            "the job may have ended");
  EXPECT_EQ(reason(id),
            "is held: " + job(id).held_because + "; podium release 1 runs it again, podium cancel 1 ends it");
}

TEST_F(RestoredDatabase, AReleasedJobStartsWithANumberAboveEveryOneThatNodesHaveSeen) {
  const NodeDescription other = node_with("node-2", 1);
  join(other);
  turn(CoordinatorUp{});
  const JobId id = submit(request_for(1));
  tell_ended(node_, {{id, 3}});
  tell_ended(other, {{id, 5}});
  ASSERT_TRUE(turn(ReleaseJob{id}).ok());
  EXPECT_EQ(job(id).held_because, "");
  ASSERT_EQ(state_of(id), JobState::starting);
  EXPECT_EQ(job(id).attempt_id().number, 6) << "agents refuse what they have seen";
  EXPECT_TRUE(job(id).attempt->fenced) << "a node that is silent may run another";
  tell_ended(node_, {{id, 3}});
  tell_ended(other, {{id, 5}});
  EXPECT_FALSE(job(id).held) << "what was told once holds it no more";
}

TEST_F(RestoredDatabase, AReleasedJobThatHasNotStartedIsNotHeldAgainForTheSame) {
  const JobId first = run_one();
  const JobId id = submit(request_for(1));
  tell_ended(node_, {{id, 2}}, {running(task(first, 0))});
  ASSERT_TRUE(job(id).held);
  ASSERT_TRUE(turn(ReleaseJob{id}).ok());
  tell_ended(node_, {{id, 2}}, {running(task(first, 0))});
  EXPECT_FALSE(job(id).held);
  tell_ended(node_, {{id, 3}}, {running(task(first, 0))});
  EXPECT_TRUE(job(id).held) << "that is news";
}

TEST_F(RestoredDatabase, AHoldAndItsNumbersOutliveARestart) {
  turn(CoordinatorUp{});
  const JobId id = submit(request_for(1));
  tell_ended(node_, {{id, 3}});
  const Job before = job(id);
  ClusterState empty;
  state_ = cluster_state_from_json(to_json(state_), empty);
  EXPECT_EQ(job(id), before);
}

TEST_F(RestoredDatabase, ATaskThatEndedAfterTheCopyWasTakenIsLostWithTheTruthAndItsJobHeld) {
  const JobId id = run_one();
  turn(CoordinatorUp{});
  const auto events = tell_ended(node_, {{id, 1}});
  ASSERT_TRUE(find<TaskLost>(events));
  EXPECT_EQ(find<TaskLost>(events)->reason, "it ended on node-1 after this database was copied");
  EXPECT_EQ(state_of(id), JobState::queued);
  EXPECT_EQ(
      job(id).held_because,
      "attempt 1 of it has ended on node-1, and this database, an older copy that was restored, does not "
      "know how: the job may have ended");
  ASSERT_TRUE(turn(ReleaseJob{id}).ok());
  EXPECT_EQ(job(id).attempt_id().number, 2);
}

// As when the copy was taken between the order and the agent's word of it.
TEST_F(RestoredDatabase, ATaskThatWasOnlyOrderedAndHasEndedSinceIsNotOrderedAgain) {
  const JobId id = submit(request_for(1));
  ASSERT_EQ(state_of(id), JobState::starting);
  turn(CoordinatorUp{});
  tell_ended(node_, {{id, 1}});
  EXPECT_TRUE(job(id).held);
  EXPECT_TRUE(node_orders(state_, node_.id).tasks.empty());
}

TEST_F(RestoredDatabase, AnEndThatItsAgentStillTellsHoldsTheJobLikeOneThatItForgot) {
  turn(CoordinatorUp{});
  const JobId id = submit(request_for(1));
  tell_ended(node_, {}, {{{{id, 1}, 0}, TaskState::exited, 1, TaskExit{}}});
  EXPECT_TRUE(job(id).held);
}

TEST_F(RestoredDatabase, AnAttemptThatStillRunsIsNotGoneForOneThatEndedBeforeIt) {
  const JobId id = submit(request_for(1));
  report(node_, {{task(id, 0), TaskExit{1, 0, ""}}});
  report(node_);
  ASSERT_EQ(state_of(id), JobState::running);
  ASSERT_EQ(job(id).attempt_id().number, 2);
  turn(CoordinatorUp{});
  tell_ended(node_, {{id, 1}}, {running(task(id, 0))});
  EXPECT_EQ(state_of(id), JobState::running);
  EXPECT_FALSE(job(id).held);
}

// In normal operation: an agent forgets a rank that has succeeded while another rank waits for its device.
TEST_F(RestoredDatabase, AGangOfWhichOneRankIsDoneAndForgottenIsNotHeld) {
  const NodeDescription wide = node_with("wide", 2);
  join(wide);
  const JobId id = submit(request_for(2, 2));
  turn(NodeReported{{wide, {running(task(id, 0))}, 0}});
  turn(NodeReported{{wide, {{task(id, 0), TaskState::exited, 1, TaskExit{}}}, 0}});
  tell_ended(wide, {{id, 1}});
  EXPECT_FALSE(job(id).held);
  EXPECT_EQ(state_of(id), JobState::starting);
  EXPECT_FALSE(job(id).attempt->tasks[1].over());
}

TEST_F(RestoredDatabase, AGangWhoseRanksOnOneNodeAreDoneAndForgottenIsNotHeldByTheOther) {
  const NodeDescription other = node_with("node-2", 1);
  join(other);
  const JobId id = submit(request_for(2));
  report(node_);
  report(other);
  report(node_, {{task(id, 0), TaskExit{}}});
  tell_ended(node_, {{id, 1}});
  tell_ended(other, {}, {running(task(id, 1))});
  EXPECT_FALSE(job(id).held);
  EXPECT_EQ(state_of(id), JobState::running);
}

TEST_F(RestoredDatabase, AGangOfWhichOneNodesRanksAreGoneIsStoppedAndHeld) {
  const NodeDescription other = node_with("node-2", 1);
  join(other);
  const JobId id = submit(request_for(2));
  report(node_);
  report(other);
  turn(CoordinatorUp{});
  tell_ended(node_, {{id, 1}});
  EXPECT_EQ(state_of(id), JobState::stopping);
  const TaskId last = task(id, 1);
  report(other, {{last, TaskExit{0, SIGTERM, "", ExitCause::ordered}}});
  EXPECT_EQ(state_of(id), JobState::queued);
  EXPECT_TRUE(job(id).held);
}

TEST_F(RestoredDatabase, AJobThatWasBeingStoppedForGoodIsNotHeld) {
  const JobId cancelled = run_one();
  ASSERT_TRUE(turn(CancelJob{cancelled}).ok());
  EXPECT_FALSE(find<JobHeld>(tell_ended(node_, {{cancelled, 1}})));
  EXPECT_FALSE(state_.jobs.contains(cancelled));

  JobRequest request = request_for(1);
  request.walltime = std::chrono::seconds(5);
  const JobId late = submit(request);
  report(node_);
  wait(5);
  ASSERT_EQ(state_of(late), JobState::stopping);
  EXPECT_FALSE(find<JobHeld>(tell_ended(node_, {{late, 1}})));
  EXPECT_FALSE(state_.jobs.contains(late));
}

// Of more jobs than a node can tell of.
TEST_F(RestoredDatabase, ATaskThatItsNodeRefusesBecauseItHasEndedThereHoldsItsJob) {
  const JobId id = run_one();
  const TaskExit refusal{0, SIGKILL, "it has ended here before, and was forgotten", ExitCause::no_record};
  const auto events = tell_ended(node_, {{id, 1}}, {{task(id, 0), TaskState::exited, 0, refusal}});
  ASSERT_TRUE(find<TaskLost>(events));
  EXPECT_EQ(find<TaskLost>(events)->reason, "it ended on node-1 after this database was copied");
  EXPECT_TRUE(job(id).held);
}

TEST_F(RestoredDatabase, ATaskThatALostHomeHasNoRecordOfHoldsNothing) {
  const JobId id = run_one();
  const TaskExit refusal{0, SIGKILL, "the agent's home folder was lost", ExitCause::no_record};
  tell_ended(node_, {}, {{task(id, 0), TaskState::exited, 0, refusal}});
  EXPECT_FALSE(job(id).held);
}

// As of a job that was requeued after it had ended: nothing of it lived when the nodes told what had ended.
TEST_F(RestoredDatabase, AJobWhoseNumberANodeRefusesIsHeldAndThenStartsAboveIt) {
  const JobId id = submit(request_for(1));
  const TaskExit refusal{0, 0, "this node has seen attempt 5 of its job", ExitCause::not_started};
  tell_ended(node_, {{id, 5}}, {{task(id, 0), TaskState::exited, 0, refusal}});
  ASSERT_EQ(state_of(id), JobState::queued);
  EXPECT_TRUE(job(id).held);
  ASSERT_TRUE(turn(ReleaseJob{id}).ok());
  EXPECT_EQ(job(id).attempt_id().number, 6);
}

TEST_F(RestoredDatabase, ARankThatStillRunsIsNotGoneWithOneThatEnded) {
  const NodeDescription wide = node_with("wide", 2);
  join(wide);
  const JobId id = submit(request_for(2, 2));
  report(wide);
  turn(CoordinatorUp{});
  tell_ended(wide, {{id, 1}}, {running(task(id, 1))});
  EXPECT_EQ(job(id).attempt->tasks[0].phase, TaskPhase::lost);
  EXPECT_EQ(job(id).attempt->tasks[1].phase, TaskPhase::running);
  EXPECT_TRUE(job(id).held);
}

TEST_F(RestoredDatabase, WhatEndedInAnotherClusterHoldsNothing) {
  state_.cluster = {"ours", 1};
  turn(CoordinatorUp{});
  const JobId id = submit(request_for(1));
  for (const char* cluster : {"theirs", ""}) {
    NodeReport report{node_, {}, 0};
    report.cluster = {cluster, 1};
    report.ended = {{id, 3}, {{40}, 1}};
    turn(NodeReported{report});
    EXPECT_FALSE(job(id).held) << cluster;
  }
  EXPECT_EQ(submit(request_for(1)), JobId{2});
}

TEST_F(RestoredDatabase, NumbersOfJobsThatHaveEndedAreNotGivenAgain) {
  tell_ended(node_, {{{40}, 1}});
  EXPECT_EQ(submit(request_for(1)), JobId{41});
}

}  // namespace
}  // namespace podium
