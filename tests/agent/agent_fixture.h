// A real podium-agent against a fake coordinator, with tasks that are shell scripts.
#pragma once

#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "agent/process/cgroup.h"
#include "agent/process/leftovers.h"
#include "agent/process/task_folder.h"
#include "common/base/file.h"
#include "tests/agent/fake_coordinator.h"
#include "tests/child.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"

namespace podium {

class AgentFixture : public testing::Test {
 protected:
  AgentFixture() {
    std::filesystem::create_directories(folder_.path() / "data");
    write_file_atomic(folder_.path() / "token", std::string(kFakeToken) + "\n");
  }

  ~AgentFixture() override {
    agent_.reset();
    std::vector<std::filesystem::path> strange;
    for (const TaskId task : find_tasks(home(), strange))
      kill_marked("PODIUM_TASK_FOLDER=" + task_folder(task).path().string());
    if (const auto cgroups = Cgroups::find(home())) cgroups->tidy();
    if (HasFailure() && std::filesystem::exists(log_path())) std::cerr << log();
  }

  std::filesystem::path home() const { return folder_.path() / "home"; }
  std::filesystem::path data() const { return folder_.path() / "data"; }
  std::filesystem::path log_path() const { return folder_.path() / "agent.log"; }
  std::string log() const { return read_file(log_path()); }
  TaskFolder task_folder(TaskId task) const { return {home(), task}; }

  std::vector<std::string> agent_command() const {
    return {test::program_path("podium-agent"),
            "--name",
            "node-1",
            "--coordinator",
            coordinator_.url(),
            "--token-file",
            folder_.path() / "token",
            "--home",
            home(),
            "--shared",
            folder_.path() / "shared",
            "--data",
            data(),
            "--cpu-slots",
            "4"};
  }

  void start_agent(const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = agent_command();
    command.insert(command.end(), more.begin(), more.end());
    agent_ = std::make_unique<Child>(command, log_path());
  }

  void kill_agent() {
    agent_->signal(SIGKILL);
    agent_->wait();
  }

  static TaskId task(std::int64_t job, std::int32_t attempt = 1, std::int32_t rank = 0) {
    return {{{job}, attempt}, rank};
  }

  // Device: the job's number, so that different jobs do not wait for each other.
  static TaskOrder run(TaskId id, const std::string& script) {
    TaskOrder order;
    order.launch.task = id;
    order.launch.name = "test";
    order.launch.world_size = id.rank + 1;
    order.launch.node.value = "node-1";
    order.launch.device_index = static_cast<int>(id.attempt.job.value);
    order.launch.spec.name = "test";
    order.launch.spec.command = {"sh", "-c", script};
    return order;
  }

  static TaskOrder stop(TaskOrder order, Duration grace = std::chrono::seconds(30)) {
    order.action = TaskAction::stop;
    order.launch.grace = grace;
    return order;
  }

  static bool eventually(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < end) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  std::optional<TaskReport> reported(TaskId id) const {
    for (const TaskReport& report : coordinator_.report().tasks)
      if (report.task == id) return report;
    return std::nullopt;
  }

  // Once the coordinator has heard that the task is in this state; fails the test when that never comes.
  TaskReport wait_for(TaskId id, TaskState state) const {
    std::optional<TaskReport> seen;
    EXPECT_TRUE(eventually([&] {
      seen = reported(id);
      return seen && seen->state == state;
    })) << "task "
        << to_string(id) << " is never " << to_string(state);
    return seen.value_or(TaskReport{});
  }

  TaskExit wait_for_exit(TaskId id) const {
    return wait_for(id, TaskState::exited).exit.value_or(TaskExit{-1, -1, "none"});
  }

  void wait_for_log(const std::string& text) const {
    EXPECT_TRUE(eventually([&] {
      return std::filesystem::exists(log_path()) && log().find(text) != std::string::npos;
    })) << "the log never says: "
        << text;
  }

  static bool lives(std::int64_t pid) { return ::kill(static_cast<pid_t>(pid), 0) == 0; }

  TempFolder folder_;
  FakeCoordinator coordinator_;
  std::unique_ptr<Child> agent_;
};

}  // namespace podium
