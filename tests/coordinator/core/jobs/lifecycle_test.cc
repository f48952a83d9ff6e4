// A job from its start to its end, along every road.
#include "tests/coordinator/core/jobs/lifecycle_fixture.h"

namespace podium {
namespace {

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

}  // namespace
}  // namespace podium
