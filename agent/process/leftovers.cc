#include "agent/process/leftovers.h"

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

#include "agent/process/spawn.h"
#include "common/base/file.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLooks = 100;  // a program that forks faster than it is found is left to its cgroup

// The variable's value in the process's environment. Nothing where it has none, has ended, or belongs to
// another user and so to no task.
std::optional<std::string> value_in(pid_t pid, const std::string& name) {
  try {
    const std::string environment = '\0' + read_file("/proc/" + std::to_string(pid) + "/environ") + '\0';
    const std::string head = '\0' + name + '=';
    const std::size_t found = environment.find(head);
    if (found == std::string::npos) return std::nullopt;
    const std::size_t begin = found + head.size();
    return environment.substr(begin, environment.find('\0', begin) - begin);
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

// The pidfd is opened before the environment is read, so the process killed is the one looked at.
bool kill_if_doomed(pid_t pid, const std::string& name,
                    const std::function<bool(const std::string&)>& doomed) {
  const Fd pidfd = open_pidfd(pid);
  if (!pidfd) return false;
  const auto value = value_in(pid, name);
  if (!value || !doomed(*value)) return false;
  signal_pidfd(pidfd.get(), SIGKILL);
  return true;
}

// Except this process.
std::vector<pid_t> processes() {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t pid = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc{} && end == name.data() + name.size() && pid != ::getpid()) found.push_back(pid);
  }
  return found;
}

// Adds those it kills to `killed`; false when it found none.
bool look_once(const std::string& name, const std::function<bool(const std::string&)>& doomed,
               std::set<pid_t>& killed) {
  bool found = false;
  for (const pid_t pid : processes()) {
    if (!kill_if_doomed(pid, name, doomed)) continue;
    killed.insert(pid);
    found = true;
  }
  return found;
}

}  // namespace

void each_marked(const std::string& name,
                 const std::function<void(pid_t pid, const std::string& value)>& look) {
  for (const pid_t pid : processes())
    if (const auto value = value_in(pid, name)) look(pid, *value);
}

int kill_marked(const std::string& variable) {
  const std::size_t equals = variable.find('=');
  return kill_marked(variable.substr(0, equals),
                     [&](const std::string& value) { return value == variable.substr(equals + 1); });
}

int kill_marked(const std::string& name, const std::function<bool(const std::string&)>& doomed) {
  std::set<pid_t> killed;
  for (int look = 0; look < kMaxLooks && look_once(name, doomed, killed); ++look)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the killed take a moment to be gone
  return static_cast<int>(killed.size());
}

}  // namespace podium
