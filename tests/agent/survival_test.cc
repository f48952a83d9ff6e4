// What the agent keeps through its own end, its coordinator's, and its tasks' shims'.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include "agent/process/lease_file.h"
#include "agent/process/shared_fence.h"
#include "tests/agent/agent_fixture.h"

namespace podium {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr char kUntilTold[] =
    "echo x >> \"$PODIUM_DATA/starts\"; until [ -e \"$PODIUM_DATA/go\" ]; do sleep 0.01; done; exit 5";

class AgentSurvival : public AgentFixture {
 protected:
  // A task's shim: the parent of its program.
  static pid_t shim_of(std::int64_t program) {
    const std::string status = read_file("/proc/" + std::to_string(program) + "/status");
    return std::stoi(status.substr(status.find("PPid:") + 5));
  }
};

TEST_F(AgentSurvival, AKilledAgentsTasksRunOnAndAreTakenUpAgain) {
  start_agent();
  coordinator_.order({run(task(1), kUntilTold)});
  const TaskReport before = wait_for(task(1), TaskState::running);
  const std::string boot = coordinator_.report().node.boot;
  kill_agent();
  EXPECT_TRUE(lives(before.pid));
  start_agent();
  ASSERT_TRUE(eventually([&] { return coordinator_.report().node.boot != boot; }));
  EXPECT_EQ(wait_for(task(1), TaskState::running).pid, before.pid);
  write_file_atomic(data() / "go", "");
  EXPECT_EQ(wait_for_exit(task(1)).code, 5);
  EXPECT_EQ(read_file(data() / "starts"), "x\n");
}

TEST_F(AgentSurvival, AnExitWhileTheAgentIsDeadIsNotLost) {
  start_agent();
  coordinator_.order({run(task(1), kUntilTold)});
  const std::int64_t pid = wait_for(task(1), TaskState::running).pid;
  kill_agent();
  write_file_atomic(data() / "go", "");
  ASSERT_TRUE(eventually([&] { return !lives(pid); }));
  start_agent();
  EXPECT_EQ(wait_for_exit(task(1)).code, 5);
  EXPECT_EQ(read_file(data() / "starts"), "x\n");
}

TEST_F(AgentSurvival, ATaskStartsOnceHoweverOftenTheAgentIsKilled) {
  start_agent();
  coordinator_.order({run(task(1), kUntilTold), run(task(2), kUntilTold)});
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(7 * i));
    kill_agent();
    start_agent();
  }
  wait_for(task(1), TaskState::running);
  wait_for(task(2), TaskState::running);
  write_file_atomic(data() / "go", "");
  EXPECT_EQ(wait_for_exit(task(1)).code, 5);
  EXPECT_EQ(wait_for_exit(task(2)).code, 5);
  EXPECT_EQ(read_file(data() / "starts"), "x\nx\n");
}

TEST_F(AgentSurvival, ATakenUpTaskCanBeStopped) {
  start_agent();
  const TaskOrder order = run(task(1), "trap 'exit 6' TERM; touch ready; while :; do sleep 0.01; done");
  coordinator_.order({order});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(task_folder(task(1)).path() / "ready"); }));
  kill_agent();
  coordinator_.order({stop(order)});
  start_agent();
  EXPECT_EQ(wait_for_exit(task(1)).code, 6);
}

// Each restart of an agent began the grace period anew: the coordinator had given the task up by then.
TEST_F(AgentSurvival, TheGracePeriodBeginsOnce) {
  start_agent();
  const TaskOrder order = run(task(1), "trap '' TERM; while :; do sleep 0.01; done");
  coordinator_.order({order});
  wait_for(task(1), TaskState::running);
  coordinator_.order({stop(order, 1h)});
  const auto told = [&] { return task_folder(task(1)).read_record().kill_by; };
  ASSERT_TRUE(eventually([&] { return told().has_value(); }));
  const Time kill_by = *told();
  kill_agent();
  start_agent();
  wait_for_log("still runs");
  ASSERT_TRUE(eventually([&] {
    const std::string text = log();
    return text.find("told to leave", text.find("still runs")) != std::string::npos;
  }));
  EXPECT_EQ(*told(), kill_by);
  coordinator_.order({stop(order, 0s)});
  EXPECT_EQ(wait_for_exit(task(1)).signal, SIGKILL);
}

TEST_F(AgentSurvival, AKilledShimTakesItsTaskAlong) {
  start_agent();
  coordinator_.order({run(task(1), "setsid sleep 1000 & echo $! > child; touch ready; wait")});
  const std::int64_t program = wait_for(task(1), TaskState::running).pid;
  const auto folder = task_folder(task(1)).path();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "ready"); }));
  const int child = std::stoi(read_file(folder / "child"));
  ::kill(shim_of(program), SIGKILL);
  const TaskExit exit = wait_for_exit(task(1));
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_THAT(exit.message, HasSubstr("podium-shim"));
  EXPECT_TRUE(eventually([&] { return !lives(program) && !lives(child); }));
}

TEST_F(AgentSurvival, AShimKilledWhileTheAgentIsDeadTakesItsTaskAlongToo) {
  start_agent();
  coordinator_.order({run(task(1), kUntilTold)});
  const std::int64_t program = wait_for(task(1), TaskState::running).pid;
  kill_agent();
  ::kill(shim_of(program), SIGKILL);
  start_agent();
  EXPECT_EQ(wait_for_exit(task(1)).signal, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !lives(program); }));
}

TEST_F(AgentSurvival, TasksRunOnThroughAnOutageOfTheCoordinator) {
  start_agent();
  coordinator_.order({run(task(1), kUntilTold)});
  const std::int64_t pid = wait_for(task(1), TaskState::running).pid;
  coordinator_.stop();
  wait_for_log("trying again");
  write_file_atomic(data() / "go", "");
  ASSERT_TRUE(eventually([&] { return !lives(pid); }));
  coordinator_.start();
  EXPECT_EQ(wait_for_exit(task(1)).code, 5);
}

TEST_F(AgentSurvival, ASilentCoordinatorsTasksAreStoppedWhenTheLeaseRunsOut) {
  coordinator_.set_lease(1s);
  start_agent();
  coordinator_.order(
      {run(task(1), "trap 'echo asked > asked; exit 0' TERM; touch ready; while :; do sleep 0.01; done")});
  const auto folder = task_folder(task(1)).path();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "ready"); }));
  coordinator_.stop();
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(folder / "asked"); }));
  wait_for_log("told to leave (lease)");
  coordinator_.start();
  EXPECT_EQ(wait_for_exit(task(1)).cause, ExitCause::lease) << "exit 0 after that is no success";
}

TEST_F(AgentSurvival, TheSharedFenceLetsTasksOutliveTheLeaseUntilItIsRaised) {
  coordinator_.set_lease(6s, 1h);
  start_agent();
  coordinator_.order({run(task(1), kUntilTold)});
  const std::int64_t pid = wait_for(task(1), TaskState::running).pid;
  coordinator_.stop();
  std::this_thread::sleep_for(15s);
  EXPECT_TRUE(lives(pid)) << "nobody has started another attempt";
  write_file_atomic(folder_.path() / "shared/jobs/1/epoch", "0000000002 0\n");
  EXPECT_TRUE(eventually([&] { return !lives(pid); }));
  wait_for_log("SIGKILL, because a newer attempt of its job was started elsewhere");
}

// The shims read the least of all rights: two seconds after one job's, they ended the node's others.
TEST_F(AgentSurvival, AJobWhoseRightIsOverEndsNoOther) {
  coordinator_.set_lease(10s, 1h);
  start_agent();
  coordinator_.order({run(task(1), "trap '' TERM; while :; do sleep 0.01; done"), run(task(2), kUntilTold)});
  const std::int64_t ends = wait_for(task(1), TaskState::running).pid;
  const std::int64_t stays = wait_for(task(2), TaskState::running).pid;
  coordinator_.stop();
  std::this_thread::sleep_for(11s);  // from now on by the fences alone
  write_file_atomic(folder_.path() / "shared/jobs/1/epoch", "nobody can read this\n");
  EXPECT_TRUE(eventually([&] { return !lives(ends); }));
  EXPECT_TRUE(lives(stays));
  EXPECT_EQ(log().find("task 2.1.0: ended"), std::string::npos);
}

// Without a file of its own, as shims of before have it, a task's right is in the home.
TEST_F(AgentSurvival, TasksOfAnAgentOfBeforeGoOn) {
  start_agent();
  coordinator_.order({run(task(1), kUntilTold)});
  const std::int64_t pid = wait_for(task(1), TaskState::running).pid;
  kill_agent();
  std::filesystem::remove(task_folder(task(1)).path() / "lease");
  TaskRecord record = task_folder(task(1)).read_record();
  record.leased = false;
  task_folder(task(1)).write_record(record);
  start_agent();
  wait_for_log("still runs");
  EXPECT_EQ(wait_for(task(1), TaskState::running).pid, pid);
  coordinator_.order({run(task(1), kUntilTold), run(task(2), kUntilTold)});
  wait_for(task(2), TaskState::running);
  EXPECT_GT(LeaseFile(home()).read()->end, LeaseFile(home()).read()->last_sync);
  write_file_atomic(data() / "go", "");
  EXPECT_EQ(wait_for_exit(task(1)).code, 5);
}

// Its shim read the deleted file on, and ended the task of a healthy agent.
TEST_F(AgentSurvival, ATaskThatDeletedItsLeaseOutlivesARestartOfTheAgent) {
  coordinator_.set_lease(6s, 1h);
  start_agent();
  coordinator_.order({run(task(1), std::string("rm lease; touch ready; ") + kUntilTold)});
  const std::int64_t pid = wait_for(task(1), TaskState::running).pid;
  const auto folder = task_folder(task(1)).path();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "ready"); }));
  kill_agent();
  std::filesystem::remove(folder / "lease");
  start_agent();
  wait_for_log("still runs");
  std::this_thread::sleep_for(12s);
  EXPECT_TRUE(lives(pid));
  write_file_atomic(data() / "go", "");
  EXPECT_EQ(wait_for_exit(task(1)).code, 5);
}

// The agent failed at every start, and with it all tasks of the node.
TEST_F(AgentSurvival, AProgramThatRuinsItsFolderKeepsNoAgentFromStarting) {
  start_agent();
  coordinator_.order(
      {run(task(1), "for i in lease shim.lock; do rm $i; mkdir $i; done; touch ready; sleep 1000"),
       run(task(2),
           "until [ -e told ]; do sleep 0.01; done; rm task.json; mkdir task.json; touch ready; sleep 1000"),
       run(task(3), kUntilTold)});
  std::int64_t ruined[2];
  for (int job : {1, 2}) {
    ruined[job - 1] = wait_for(task(job), TaskState::running).pid;
    const auto folder = task_folder(task(job)).path();
    write_file_atomic(folder / "told", "");  // the agent has written its record for now
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "ready"); }));
  }
  const std::int64_t pid = wait_for(task(3), TaskState::running).pid;
  kill_agent();
  start_agent();
  for (int job : {1, 2}) {
    EXPECT_EQ(wait_for_exit(task(job)).cause, ExitCause::shim_killed) << job;
    EXPECT_TRUE(eventually([&] { return !lives(ruined[job - 1]); }))
        << "beside which its job may start again";
  }
  EXPECT_EQ(wait_for(task(3), TaskState::running).pid, pid);
  coordinator_.order({});
  for (int job : {1, 2}) wait_for_log("task " + to_string(task(job)) + ": forgotten");
}

// They were taken for tasks that had not begun: their folders went, and they ran on unwatched.
TEST_F(AgentSurvival, ATaskThatDeletedOrEmptiedItsLockIsNotTakenForUnborn) {
  start_agent();
  coordinator_.order({run(task(1), "rm shim.lock; touch ready; sleep 1000"),
                      run(task(2), ": > shim.lock; touch ready; sleep 1000")});
  std::int64_t programs[2];
  for (int job : {1, 2}) {
    programs[job - 1] = wait_for(task(job), TaskState::running).pid;
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(task_folder(task(job)).path() / "ready"); }));
  }
  kill_agent();
  start_agent();
  for (int job : {1, 2}) {
    EXPECT_EQ(wait_for_exit(task(job)).cause, ExitCause::shim_killed) << job;
    EXPECT_TRUE(eventually([&] { return !lives(programs[job - 1]); })) << job;
    EXPECT_TRUE(std::filesystem::exists(task_folder(task(job)).path())) << job;
  }
}

TEST_F(AgentSurvival, WithoutCoordinatorAndSharedFolderTasksAreStopped) {
  coordinator_.set_lease(1s, 1h);
  start_agent();
  coordinator_.order({run(task(1), kUntilTold)});
  const std::int64_t pid = wait_for(task(1), TaskState::running).pid;
  std::filesystem::rename(folder_.path() / "shared", folder_.path() / "gone");
  write_file_atomic(folder_.path() / "shared", "not a folder");
  coordinator_.stop();
  EXPECT_TRUE(eventually([&] { return !lives(pid); }));
  wait_for_log("told to leave (lease)");
}

TEST_F(AgentSurvival, AnAgentThatRestartsHasOnlyWhatIsLeftOfTheLease) {
  coordinator_.set_lease(3s);
  start_agent();
  coordinator_.order({run(task(1), kUntilTold)});
  const std::int64_t pid = wait_for(task(1), TaskState::running).pid;
  coordinator_.stop();
  EXPECT_TRUE(eventually([&] {
    kill_agent();
    start_agent();
    std::this_thread::sleep_for(500ms);
    return !lives(pid);
  }));
}

TEST_F(AgentSurvival, ATaskStartsBehindItsFence) {
  start_agent();
  coordinator_.order({run(task(1, 3), "cat \"$PODIUM_CHECKPOINTS/../epoch\" > \"$PODIUM_DATA/epoch\"")});
  wait_for_exit(task(1, 3));
  EXPECT_THAT(read_file(data() / "epoch"), testing::StartsWith("0000000003 000000000000000 "));
  coordinator_.order({run(task(1, 2), "touch \"$PODIUM_DATA/older\"")});
  EXPECT_THAT(wait_for_exit(task(1, 2)).message, HasSubstr("attempt 3"));
  EXPECT_FALSE(std::filesystem::exists(data() / "older"));
}

TEST_F(AgentSurvival, TheFirstReportAfterAnInterruptionSaysSo) {
  start_agent();
  ASSERT_TRUE(eventually([&] { return coordinator_.report().orders_seen > 0; }));
  EXPECT_FALSE(coordinator_.report().interrupted);
  coordinator_.stop();
  wait_for_log("trying again");
  coordinator_.start();
  EXPECT_TRUE(eventually([&] { return coordinator_.report().interrupted; }));
}

// The database behind a coordinator that is back may be an older copy.
TEST_F(AgentSurvival, TheFirstReportAfterAnInterruptionTellsWhatHasEndedHere) {
  start_agent();
  coordinator_.order({run(task(7, 2), "true")});
  wait_for_exit(task(7, 2));
  coordinator_.order({});
  ASSERT_TRUE(eventually([&] { return !reported(task(7, 2)); }));
  EXPECT_TRUE(coordinator_.report().ended.empty());
  coordinator_.stop();
  wait_for_log("trying again");
  coordinator_.start();
  EXPECT_TRUE(eventually([&] { return coordinator_.report().ended == std::vector{task(7, 2).attempt}; }));
}

// The coordinator counted up through the numbers that were refused until it had the job run again.
TEST_F(AgentSurvival, AnOrderThatTheSharedFenceForbidsIsRefusedWithTheAttemptThatItKnows) {
  const auto jobs = folder_.path() / "shared" / "jobs";
  raise_shared_fence(shared_job_folder(jobs, {7}), {3, {}, "", {}});
  start_agent();
  coordinator_.order({run(task(7, 1), "true")});
  wait_for_exit(task(7, 1));
  EXPECT_EQ(reported(task(7, 1))->exit->cause, ExitCause::not_started);
  EXPECT_TRUE(eventually([&] { return coordinator_.report().ended == std::vector{AttemptId{{7}, 3}}; }));
  coordinator_.order({});
  EXPECT_TRUE(eventually([&] { return coordinator_.report().ended.empty(); }));
}

TEST_F(AgentSurvival, TheSharedFolderIsCountedAtOnceWhenTheCoordinatorIsGone) {
  const auto jobs = folder_.path() / "shared" / "jobs";
  const auto raise = [&](std::int64_t job) {
    raise_shared_fence(shared_job_folder(jobs, {job}), {1, {}, "", {}});
  };
  raise(40);
  start_agent();
  ASSERT_TRUE(eventually([&] { return coordinator_.report().highest_job == 40; }));
  raise(41);
  coordinator_.stop();
  wait_for_log("trying again");
  coordinator_.start();
  EXPECT_TRUE(eventually([&] { return coordinator_.report().highest_job == 41; }));
}

TEST_F(AgentSurvival, ADeadAgentsTasksAreStoppedWhenTheLeaseRunsOut) {
  coordinator_.set_lease(1s);
  start_agent();
  coordinator_.order(
      {run(task(1), "trap 'echo asked >> asked; exit 0' TERM; touch ready; while :; do sleep 0.01; done")});
  const auto folder = task_folder(task(1)).path();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "ready"); }));
  kill_agent();
  EXPECT_TRUE(eventually([&] { return task_folder(task(1)).read_exit().has_value(); }));
  EXPECT_EQ(read_file(folder / "asked"), "asked\n");
  start_agent();
  EXPECT_EQ(wait_for_exit(task(1)).cause, ExitCause::lease);
}

TEST_F(AgentSurvival, SigtermEndsTheAgentAndLeavesItsTasks) {
  start_agent();
  coordinator_.order({run(task(1), kUntilTold)});
  const std::int64_t pid = wait_for(task(1), TaskState::running).pid;
  agent_->signal(SIGTERM);
  EXPECT_EQ(agent_->wait(), 0);
  EXPECT_TRUE(lives(pid));
}

TEST_F(AgentSurvival, SigtermStopsTheTasksFirstWhenAskedTo) {
  start_agent({"--stop-tasks-on-exit"});
  coordinator_.order(
      {run(task(1), "trap 'echo asked > asked; exit 0' TERM; touch ready; while :; do sleep 0.01; done")});
  const auto folder = task_folder(task(1)).path();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "ready"); }));
  agent_->signal(SIGTERM);
  EXPECT_EQ(agent_->wait(), 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "asked"));
  EXPECT_EQ(wait_for_exit(task(1)).cause, ExitCause::agent_stopped) << "told before it left";
}

TEST_F(AgentSurvival, WhileItsTasksLeaveItStartsNoOthers) {
  start_agent({"--stop-tasks-on-exit"});
  const TaskOrder slow =
      run(task(1),
          "trap 'touch asked; until [ -e go ]; do sleep 0.01; done; exit 0' TERM; touch ready;"
          " while :; do sleep 0.01; done");
  coordinator_.order({slow});
  const auto folder = task_folder(task(1)).path();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "ready"); }));
  agent_->signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "asked"); }));
  coordinator_.order({slow, run(task(2), kUntilTold)});
  EXPECT_EQ(wait_for_exit(task(2)).cause, ExitCause::not_started);
  EXPECT_THAT(coordinator_.report().node.devices.at(0).health, HasSubstr("being stopped"));
  write_file_atomic(folder / "go", "");
  EXPECT_EQ(agent_->wait(), 0);
}

// The task was started a second time, beside the living one.
TEST_F(AgentSurvival, ATaskOfALostHomeIsNotStartedBesideItself) {
  for (const bool whole_home : {false, true}) {
    const TaskId id = task(whole_home ? 2 : 1);
    TaskOrder order = run(id, "echo x >> \"$PODIUM_DATA/starts-$PODIUM_JOB\"; sleep 1000");
    start_agent();
    coordinator_.order({order});
    const std::int64_t program = wait_for(id, TaskState::running).pid;
    const std::string key = coordinator_.report().node.key;
    EXPECT_FALSE(key.empty());
    kill_agent();
    std::filesystem::remove_all(whole_home ? home() : home() / "jobs");
    order.action = TaskAction::keep;
    coordinator_.order({order});
    start_agent();
    EXPECT_EQ(wait_for_exit(id).cause, ExitCause::no_record);
    EXPECT_TRUE(eventually([&] { return !lives(program); })) << "beside which its job may start again";
    EXPECT_EQ(read_file(data() / ("starts-" + to_string(id.attempt.job))), "x\n");
    EXPECT_EQ(coordinator_.report().node.key == key, !whole_home);
    kill_agent();
    coordinator_.order({});
  }
}

TEST_F(AgentSurvival, AProgramDiesWithItsShimThoughTheAgentIsDead) {
  start_agent();
  coordinator_.order({run(task(1), kUntilTold)});
  const std::int64_t program = wait_for(task(1), TaskState::running).pid;
  const pid_t shim = shim_of(program);
  kill_agent();
  ::kill(shim, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !lives(program); }));
}

TEST_F(AgentSurvival, TwoAgentsCannotHaveOneHome) {
  start_agent();
  wait_for_log("in touch");
  Child second(agent_command(), folder_.path() / "second.log");
  EXPECT_EQ(WEXITSTATUS(second.wait()), 1);
  EXPECT_THAT(read_file(folder_.path() / "second.log"),
              HasSubstr("another podium-agent (pid " + std::to_string(agent_->pid()) + ") has this home"));
}

TEST_F(AgentSurvival, AWrongTokenIsSaidAndTriedAgain) {
  write_file_atomic(folder_.path() / "token", "wrong\n");
  start_agent();
  wait_for_log("answered 401: this is not the agents' token");
  EXPECT_TRUE(eventually([&] { return coordinator_.refused_requests() >= 2; }));
}

}  // namespace
}  // namespace podium
