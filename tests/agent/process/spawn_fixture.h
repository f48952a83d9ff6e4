// A task's program under a real podium-shim, in a folder of its own.
#pragma once

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/process/lease_file.h"
#include "agent/process/spawn.h"
#include "agent/process/task_folder.h"
#include "common/base/boot_clock.h"
#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium {

namespace fs = std::filesystem;
using testing::HasSubstr;
using namespace std::chrono_literals;

inline constexpr auto kPatience = 60s;

inline bool eventually(const std::function<bool()>& holds) {
  for (const auto end = std::chrono::steady_clock::now() + kPatience;
       std::chrono::steady_clock::now() < end;) {
    if (holds()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

inline bool lives(pid_t pid) { return ::kill(pid, 0) == 0; }

class SpawnTest : public testing::Test {
 protected:
  SpawnTest() : folder_(home_.path(), {{{1}, 1}, 0}) { fs::create_directories(folder_.path()); }

  ~SpawnTest() override {
    if (shim_.pidfd) tell_shim(shim_.pidfd.get(), SIGUSR1, ExitCause::ordered);
    if (shim_.pid > 0) ::waitpid(shim_.pid, nullptr, 0);
  }

  Ready start(std::vector<std::string> arguments) {
    SpawnRequest request;
    request.shim = PODIUM_SHIM;
    request.folder = folder_.path();
    request.arguments = std::move(arguments);
    request.cgroup = cgroup_;
    request.numa = numa_;
    request.environment = {"PATH=/usr/bin:/bin", mark()};
    request.environment.insert(request.environment.end(), variables_.begin(), variables_.end());
    if (!workdir_.empty()) request.environment.push_back("PODIUM_WORKDIR=" + workdir_.string());
    shim_ = spawn_shim(request);
    std::string said(1000, '\0');
    std::size_t used = 0;
    while (const ssize_t count = ::read(shim_.ready.get(), said.data() + used, said.size() - used)) {
      if (count < 0) break;
      used += static_cast<std::size_t>(count);
    }
    said.resize(used);
    return parse_ready(said);
  }

  Ready shell(const std::string& script) { return start({"sh", "-c", script}); }

  std::string mark() const { return "PODIUM_TASK_FOLDER=" + folder_.path().string(); }

  // The shim's end, then the exit it wrote.
  std::optional<TaskExit> wait_for_exit() {
    EXPECT_EQ(::waitpid(shim_.pid, nullptr, 0), shim_.pid);
    shim_.pid = -1;
    return folder_.read_exit();
  }

  // From now on it ends after `left`.
  Time set_lease(Duration left, Duration leave = 30s) const {
    const Time end = BootClock().now() + left;
    TaskLease(folder_.path()).set(end, leave);
    return end;
  }

  std::string output() const { return read_file(folder_.path() / "stdout"); }

  pid_t printed_pid() const {
    const auto text = [&] { return fs::exists(folder_.path() / "stdout") ? output() : std::string(); };
    EXPECT_TRUE(eventually([&] { return text().ends_with('\n'); }));
    return std::stoi(text());
  }

  TempFolder home_;
  TaskFolder folder_;
  fs::path cgroup_;
  int numa_ = -1;
  fs::path workdir_;
  std::vector<std::string> variables_;  // beside those that every task has
  SpawnedShim shim_;
};

}  // namespace podium
