// What the exits of tasks mean for their job, and who is blamed.
#include "tests/coordinator/core/jobs/lifecycle_fixture.h"

namespace podium {
namespace {

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
