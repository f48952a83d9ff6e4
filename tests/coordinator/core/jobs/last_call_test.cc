// The end of a walltime, and the call to save and leave that may come before.
#include "tests/coordinator/core/jobs/lifecycle_fixture.h"

namespace podium {
namespace {

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

}  // namespace
}  // namespace podium
