// What the agent keeps through its own end, its coordinator's, and its tasks' shims'.
#include <gmock/gmock.h>
#include <sys/wait.h>

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
  wait_for_log("SIGTERM, because the coordinator has been silent for too long");
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
  EXPECT_EQ(wait_for(task(2), TaskState::exited).exit->signal, SIGTERM);
  write_file_atomic(folder / "go", "");
  EXPECT_EQ(agent_->wait(), 0);
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
