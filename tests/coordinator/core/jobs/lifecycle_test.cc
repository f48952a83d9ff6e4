// A job from its start to its end, along every road.
#include "coordinator/core/jobs/lifecycle.h"

#include <csignal>

#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

using std::chrono::seconds;

class Lifecycle : public ClusterTest {
 protected:
  Lifecycle() {
    join(one_);
    join(two_);
  }

  // A gang of two, one on each node, all running.
  JobId run_gang(JobRequest request = request_for(2, 1)) {
    const JobId id = submit(request);
    report(one_);
    report(two_);
    EXPECT_EQ(state_of(id), JobState::running);
    return id;
  }

  // What the newest state change of this job said.
  void fail_rank(JobId id, int rank, TaskExit exit) {
    report(rank == 0 ? one_ : two_, {{task(id, rank), exit}});
  }

  NodeDescription one_ = node_with("node-1", 1), two_ = node_with("node-2", 1);
};

TEST_F(Lifecycle, RunsWhenAllRunAndSucceedsWhenAllFinish) {
  const JobId id = submit(request_for(2, 1));
  report(one_);
  EXPECT_EQ(state_of(id), JobState::starting);
  report(two_);
  EXPECT_EQ(state_of(id), JobState::running);
  fail_rank(id, 0, {});
  EXPECT_EQ(state_of(id), JobState::running);
  report(two_, {{task(id, 1), {}}});
  EXPECT_FALSE(state_.jobs.contains(id));
  EXPECT_EQ(turn(CancelJob{id}).errors().at(0).code, ErrorCode::conflict);
  EXPECT_EQ(turn(CancelJob{{99}}).errors().at(0).code, ErrorCode::not_found);
}

TEST_F(Lifecycle, OneFailureStopsTheRestAndTheJobStartsAgain) {
  const JobId id = run_gang();
  fail_rank(id, 1, {0, SIGKILL, ""});
  EXPECT_EQ(state_of(id), JobState::stopping);
  EXPECT_EQ(node_orders(state_, {"node-1"}).tasks.at(0).action, TaskAction::stop);
  fail_rank(id, 0, {static_cast<int>(WorkerExit::peer_lost), 0, ""});
  EXPECT_EQ(state_of(id), JobState::starting) << "queued and started again in one turn";
  EXPECT_EQ(job(id).attempts, 2);
  EXPECT_EQ(job(id).retries.failures, 1);
}

TEST_F(Lifecycle, BlamesTheTaskThatFailedFirstAndNotItsVictims) {
  const JobId id = run_gang();
  fail_rank(id, 0, {static_cast<int>(WorkerExit::peer_lost), 0, ""});
  NodeReport last{
      two_, {{task(id, 1), TaskState::exited, 1, TaskExit{65, 0, "corpus.txt: No such file"}}}, 0};
  const auto events = turn(NodeReported{last});
  const auto* changed = find<JobStateChanged>(events);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->to, JobState::failed);
  EXPECT_EQ(changed->reason,
            "rank 1 on node-2: exit code 65 (unreadable or malformed input): corpus.txt: No such file; not "
            "retried, for "
            "it would only fail again");
}

// One that waited for the other fails, too, and its agent may be heard first.
TEST_F(Lifecycle, BlamesTheRankThatRecordedItsFailureFirst) {
  const Time kFirst = now_ - std::chrono::milliseconds(20), kLater = now_ - std::chrono::milliseconds(10);
  JobRequest request = request_for(2, 1);
  request.command = true;
  request.max_restarts = 0;
  for (const auto& [heard, last, culprit] :
       {std::tuple{kLater, kFirst, 1}, {kFirst, kLater, 0}, {kFirst, kFirst, 0}, {kFirst, Time{}, 0}}) {
    const JobId id = run_gang(request);
    fail_rank(id, 0, {1, 0, "the other is gone", ExitCause::program, heard});
    NodeReport report_of_two{
        two_, {{task(id, 1), TaskState::exited, 1, TaskExit{1, 0, "no shard", ExitCause::program, last}}}, 0};
    const auto events = turn(NodeReported{report_of_two});
    EXPECT_THAT(find<JobStateChanged>(events)->reason,
                testing::StartsWith("rank " + std::to_string(culprit) + " on node-"));
  }
}

TEST_F(Lifecycle, StopsWhenItsRestartsAreUsed) {
  JobRequest request = request_for(2, 1);
  request.max_restarts = 1;
  const JobId id = run_gang(request);
  for (int attempt = 1; attempt <= 2; ++attempt) {
    fail_rank(id, 0, {1, 0, ""});
    if (attempt == 2) break;
    report(two_, {{task(id, 1), {0, SIGTERM, ""}}});
    EXPECT_EQ(job(id).attempts, 2);
    report(one_);
    report(two_);
  }
  NodeReport last{two_, {{task(id, 1), TaskState::exited, 1, TaskExit{0, SIGTERM, ""}}}, 0};
  const auto events = turn(NodeReported{last});
  EXPECT_EQ(find<JobStateChanged>(events)->reason,
            "rank 0 on node-1: exit code 1 (an unexpected failure); its 1 restarts are used up");
}

TEST_F(Lifecycle, GivesUpWithoutCheckpointProgressAndGoesOnWithIt) {
  for (const bool progress : {false, true}) {
    const JobId id = run_gang();
    int failures = 0;
    for (; failures < 5 && state_.jobs.contains(id); ++failures) {
      if (progress) turn(CheckpointSaved{job(id).attempt_id(), 100 * (failures + 1)});
      fail_rank(id, 0, {1, 0, ""});
      report(two_, {{task(id, 1), {0, SIGTERM, ""}}});
      wait(state_.jobs.contains(id) ? 20 : 0);
      report(one_);
      report(two_);
    }
    EXPECT_EQ(failures, progress ? 5 : kFruitless);
    if (!progress) continue;
    EXPECT_TRUE(state_.jobs.contains(id));
  }
}

// A program of one's own need not tell of checkpoints; one that does is held to it.
TEST_F(Lifecycle, AProgramThatToldOfACheckpointMustTellOfNewerOnes) {
  for (const bool tells : {true, false}) {
    JobRequest request = request_for(2, 1);
    request.command = true;
    const JobId id = run_gang(request);
    if (tells) turn(CheckpointSaved{job(id).attempt_id(), 100});
    int failures = 0;
    for (; failures < 5 && state_.jobs.contains(id); ++failures) {
      fail_rank(id, 0, {1, 0, ""});
      report(two_, {{task(id, 1), {0, SIGTERM, ""}}});
      wait(state_.jobs.contains(id) ? 20 : 0);
      report(one_);
      report(two_);
    }
    EXPECT_EQ(failures, tells ? 1 + kFruitless : 5) << "the first had told of one";
  }
}

TEST_F(Lifecycle, BacksOffWhenItKeepsFailingAtOnce) {
  const JobId id = run_gang();
  for (int i = 0; i < 2; ++i) {
    fail_rank(id, 0, {1, 0, ""});
    report(two_, {{task(id, 1), {0, SIGTERM, ""}}});
    if (i > 0) break;
    report(one_);
    report(two_);
  }
  EXPECT_EQ(state_of(id), JobState::queued);
  EXPECT_EQ(job(id).not_before, now_ + std::chrono::seconds(2));
  EXPECT_EQ(plan_.stale_at, now_ + std::chrono::seconds(2));
  EXPECT_EQ(reason(id).find("failed several times soon after its start; starts again at "), 0u);
  wait(5);
  EXPECT_EQ(state_of(id), JobState::starting);
}

TEST_F(Lifecycle, AFailureAMinuteAfterTheStartIsNoQuickOne) {
  const JobId id = run_gang();
  for (int i = 0; i < 2; ++i) {
    for (Time due = job(id).attempt->created + kQuick; now_ < due;) report(one_), report(two_), wait(5);
    fail_rank(id, 0, {1, 0, ""});
    report(two_, {{task(id, 1), {0, SIGTERM, ""}}});
    if (i == 0) report(one_), report(two_);
  }
  EXPECT_FALSE(job(id).not_before);
  EXPECT_NE(state_of(id), JobState::queued) << "it does not back off";
}

TEST_F(Lifecycle, CancelsWhereverItIs) {
  const JobId running = run_gang();
  const JobId queued = submit(request_for(1));
  turn(CancelJob{queued});
  EXPECT_FALSE(state_.jobs.contains(queued));
  turn(CancelJob{running});
  EXPECT_EQ(state_of(running), JobState::stopping);
  EXPECT_TRUE(turn(CancelJob{running})->empty()) << "asked twice, told once";
  fail_rank(running, 0, {});
  NodeReport last{two_, {{task(running, 1), TaskState::exited, 1, TaskExit{}}}, 0};
  const auto events = turn(NodeReported{last});
  EXPECT_EQ(find<AttemptEnded>(events)->end, AttemptEnd::cancelled) << "exit 0 after SIGTERM is no success";
}

TEST_F(Lifecycle, PreemptedJobsGoBackToTheQueueAtNoCost) {
  state_.scheduling.preempt = true;
  const JobId id = run_gang();
  JobRequest urgent = request_for(2, 1);
  urgent.priority = 90;
  const JobId other = submit(urgent);
  EXPECT_EQ(state_of(id), JobState::stopping);
  fail_rank(id, 0, {});
  fail_rank(id, 1, {});
  EXPECT_EQ(state_of(id), JobState::queued);
  EXPECT_EQ(job(id).retries, RetryCounts{});
  EXPECT_EQ(state_of(other), JobState::starting);
}

TEST_F(Lifecycle, EndsAtItsWalltime) {
  JobRequest request = request_for(1);
  request.walltime = std::chrono::seconds(60);
  const JobId id = submit(request);
  report(one_);
  EXPECT_LE(*next_tick(state_, now_), now_ + std::chrono::seconds(60));
  for (int i = 0; i < 12; ++i) {
    wait(5);
    report(one_);
    report(two_);
  }
  EXPECT_EQ(state_of(id), JobState::stopping);
  NodeReport last{one_, {{task(id, 0), TaskState::exited, 1, TaskExit{}}}, 0};
  const auto events = turn(NodeReported{last});
  EXPECT_EQ(find<AttemptEnded>(events)->end, AttemptEnd::walltime);
  EXPECT_EQ(find<JobStateChanged>(events)->to, JobState::failed);
  EXPECT_EQ(find<AttemptEnded>(events)->reason, "ran longer than its walltime of 1m");
}

class LastCall : public Lifecycle {
 protected:
  // A job of 60 s that is told to leave 20 s before, at that moment.
  JobId call(bool command) {
    JobRequest request = request_for(1);
    request.command = command;
    request.walltime = seconds(60);
    request.before_walltime = seconds(20);
    request.grace = seconds(5);
    const JobId id = submit(request);
    report(one_);
    for (int i = 0; i < 7; ++i) pass(5);
    EXPECT_EQ(state_of(id), JobState::running);
    EXPECT_EQ(next_tick(state_, now_), now_ + seconds(5));
    pass(5);
    EXPECT_EQ(state_of(id), JobState::stopping);
    return id;
  }

  void pass(int time) {
    wait(time);
    report(one_);
    report(two_);
  }

  Result<Events> leave(JobId id, const TaskExit& exit) {
    return turn(NodeReported{{one_, {{task(id, 0), TaskState::exited, 1, exit}}, 0}});
  }
};

TEST_F(LastCall, ComesBeforeTheWalltimeAndGivesTheTimeUntilThen) {
  const JobId id = call(true);
  EXPECT_EQ(job(id).attempt->grace, seconds(20)) << "longer than its grace";
  EXPECT_EQ(node_orders(state_, one_.id).tasks.at(0).launch.grace, seconds(20));
  const auto events = leave(id, {79, 0, "", ExitCause::ordered});
  EXPECT_EQ(find<AttemptEnded>(events)->end, AttemptEnd::walltime);
  EXPECT_EQ(find<AttemptEnded>(events)->reason, "left before the end of its walltime of 1m");
  EXPECT_EQ(find<JobStateChanged>(events)->to, JobState::failed);
}

// podium-worker exits with 0 where it has taken all steps, and a program with 79 or 75 where it has not.
TEST_F(LastCall, AJobThatIsDoneByThenHasSucceeded) {
  const auto ends = [&](bool command, const TaskExit& exit) {
    const JobId id = call(command);
    const auto events = leave(id, exit);
    return find<JobStateChanged>(events)->to;
  };
  EXPECT_EQ(ends(false, {0, 0, "", ExitCause::ordered}), JobState::succeeded);
  EXPECT_EQ(ends(true, {0, 0, "", ExitCause::program}), JobState::succeeded) << "it had not heard of it yet";
  EXPECT_EQ(ends(true, {0, 0, "", ExitCause::ordered}), JobState::failed) << "it may have left early";
  EXPECT_EQ(ends(false, {0, SIGTERM, "", ExitCause::ordered}), JobState::failed);
}

TEST_F(LastCall, AJobThatIsCancelledThenWaitsForNoWalltime) {
  const JobId id = call(true);
  pass(5);
  turn(CancelJob{id});
  EXPECT_EQ(*job(id).attempt->stopping, now_);
  EXPECT_EQ(node_orders(state_, one_.id).tasks.at(0).launch.grace, seconds(5));
  const Time since = now_;
  pass(5);
  turn(CancelJob{id});
  EXPECT_EQ(*job(id).attempt->stopping, since);
}

TEST_F(LastCall, ALongerWalltimeMovesIt) {
  JobRequest request = request_for(1);
  request.walltime = seconds(60);
  request.before_walltime = seconds(20);
  const JobId id = submit(request);
  report(one_);
  turn(ExtendJob{id, seconds(120)});
  for (int i = 0; i < 19; ++i) pass(5);
  EXPECT_EQ(state_of(id), JobState::running);
  pass(5);
  EXPECT_EQ(state_of(id), JobState::stopping);
}

TEST_F(Lifecycle, AProgramThatSavedAndLeftGoesOnAtNoCost) {
  JobRequest request = request_for(1);
  request.command = true;
  request.max_restarts = 0;
  const JobId id = submit(request);
  report(one_);
  report(one_, {{task(id, 0), {79, 0, ""}}});
  EXPECT_NE(state_of(id), JobState::failed);
  EXPECT_EQ(job(id).retries.failures, 0);
  EXPECT_EQ(job(id).attempts, 2);
}

TEST_F(Lifecycle, MovesAwayFromANodeThatLacksItsDevice) {
  const JobId id = submit(request_for(1));
  const NodeId first = job(id).attempt->allocation.ranks[0].node;
  report(one_, {{task(id, 0), {static_cast<int>(WorkerExit::no_device), 0, ""}}});
  EXPECT_NE(job(id).attempt->allocation.ranks[0].node, first);
  EXPECT_EQ(job(id).retries.moves, 1);
  EXPECT_EQ(job(id).retries.failures, 0);
}

// Exit 0 after a SIGTERM that the coordinator did not order was recorded as success, with a time-to-train.
TEST_F(Lifecycle, OnlyAProgramThatEndedByItselfSucceeds) {
  for (const ExitCause cause : {ExitCause::lease, ExitCause::agent_stopped, ExitCause::signalled,
                                ExitCause::node_restarted, ExitCause::no_record, ExitCause::not_started}) {
    for (const int code : {0, 79, 143}) {
      const JobId id = run_gang();
      fail_rank(id, 0, {code, 0, "", cause});
      ASSERT_EQ(state_of(id), JobState::stopping) << to_string(cause);
      fail_rank(id, 1, {79, 0, "", ExitCause::ordered});
      ASSERT_TRUE(state_.jobs.contains(id)) << to_string(cause) << " with code " << code << " ended the job";
      EXPECT_EQ(job(id).retries.failures, 0) << to_string(cause);
      EXPECT_EQ(job(id).retries.losses, 1) << to_string(cause);
      turn(CancelJob{id});
      report(one_);
      report(two_);
      if (!state_.jobs.contains(id)) continue;
      fail_rank(id, 0, {});
      fail_rank(id, 1, {});
    }
  }
}

TEST_F(Lifecycle, ALeaseThatRanOutIsToldAsTheReason) {
  const JobId id = run_gang();
  fail_rank(id, 1, {0, SIGTERM, "", ExitCause::lease});
  NodeReport last{one_, {{task(id, 0), TaskState::exited, 1, TaskExit{0, SIGTERM, "", ExitCause::lease}}}, 0};
  const auto events = turn(NodeReported{last});
  ASSERT_TRUE(find<AttemptEnded>(events));
  EXPECT_EQ(find<AttemptEnded>(events)->end, AttemptEnd::preempted);
  EXPECT_EQ(
      find<JobStateChanged>(events)->reason,
      "rank 1 on node-2: stopped because the coordinator was silent for longer than its lease; queued again "
      "at no cost");
}

// kill -TERM of one worker of two: both save and leave together.
TEST_F(Lifecycle, AWorkerThatSavedAndLeftWithoutAnOrderIsQueuedAgainAtNoCost) {
  const JobId id = run_gang();
  fail_rank(id, 0, {static_cast<int>(WorkerExit::saved), 0, ""});
  fail_rank(id, 1, {static_cast<int>(WorkerExit::saved), 0, ""});
  EXPECT_EQ(state_of(id), JobState::starting);
  EXPECT_EQ(job(id).attempts, 2);
  EXPECT_EQ(job(id).retries.failures, 0);
}

TEST_F(Lifecycle, ALeavingNodeExcusesTheRanksThatCrashedOverIt) {
  const JobId id = run_gang();
  fail_rank(id, 0, {1, 0, "connection reset"});
  fail_rank(id, 1, {0, 0, "", ExitCause::agent_stopped});
  ASSERT_TRUE(state_.jobs.contains(id));
  EXPECT_EQ(job(id).retries.failures, 0);
  EXPECT_EQ(job(id).retries.losses, 1);
}

TEST_F(Lifecycle, AStopThatWasOrderedStaysOneWhateverTheAgentDid) {
  const JobId id = run_gang();
  turn(CancelJob{id});
  fail_rank(id, 0, {0, 0, "", ExitCause::lease});
  fail_rank(id, 1, {79, 0, "", ExitCause::ordered});
  EXPECT_FALSE(state_.jobs.contains(id));
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

// After its own SIGKILL Podium blamed the rank for being out of memory.
TEST_F(Lifecycle, ARankThatHungIsNamedByThoseThatWaitedForIt) {
  const JobId id = run_gang();
  fail_rank(id, 0, {static_cast<int>(WorkerExit::peer_lost), 0, "timed out waiting for rank 1"});
  NodeReport last{
      two_, {{task(id, 1), TaskState::exited, 1, TaskExit{0, SIGKILL, "", ExitCause::ordered}}}, 0};
  const auto events = turn(NodeReported{last});
  EXPECT_EQ(
      find<AttemptEnded>(events)->reason,
      "rank 1 on node-2 hung: rank 0 on node-1 said: timed out waiting for rank 1; rank 1 was killed, for it "
      "did not leave within its grace period");
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

TEST(Exits, MeanWhatTheirProgramSays) {
  EXPECT_EQ(retry_after({75, 0, ""}, false), Retry::requeue);
  EXPECT_EQ(retry_after({93, 0, ""}, true), Retry::never);
  EXPECT_EQ(retry_after({93, 0, ""}, false), Retry::failure);
  EXPECT_EQ(retry_after({16, 0, ""}, true), Retry::move);
  EXPECT_EQ(retry_after({17, 0, ""}, true), Retry::never);
  EXPECT_EQ(retry_after({76, 0, ""}, false), Retry::never);
  EXPECT_EQ(retry_after({76, 0, ""}, true), Retry::failure);
  EXPECT_EQ(retry_after({0, SIGSEGV, ""}, false), Retry::failure);
  EXPECT_EQ(describe_exit({137, 0, ""}, true), "exit code 137 (killed, or out of memory)");
  EXPECT_EQ(describe_exit({0, SIGTERM, ""}, false), "killed by signal 15 (SIGTERM)");
}

TEST(Exits, AreBlamedByHowSureItIs) {
  EXPECT_EQ(blame_for({74, 0, ""}, false, false), Blame::peer_lost);
  EXPECT_EQ(blame_for({74, 0, ""}, false, true), Blame::failed) << "a user's 74 is its own";
  EXPECT_EQ(blame_for({0, SIGTERM, ""}, true, false), Blame::stopped);
  EXPECT_EQ(blame_for({143, 0, ""}, true, true), Blame::stopped);
  for (const int code : {1, 17, 75}) {
    EXPECT_EQ(blame_for({code, 0, "", ExitCause::ordered}, true, true), Blame::stopped) << code;
    EXPECT_EQ(blame_for({code, 0, "", ExitCause::program}, true, true), Blame::failed)
        << code << ": it ended by itself before the order reached it";
  }
  EXPECT_EQ(blame_for({1, 0, "", ExitCause::ordered}, true, false), Blame::failed)
      << "podium-worker's codes have their meaning";
  EXPECT_EQ(blame_for({0, SIGKILL, ""}, true, false), Blame::killed);
  EXPECT_EQ(blame_for({0, SIGKILL, ""}, false, false), Blame::failed);
  EXPECT_EQ(blame_for({}, true, false), Blame::none);
}

}  // namespace
}  // namespace podium
