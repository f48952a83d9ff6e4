#include "agent/process/leftovers.h"

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>
#include <thread>

#include "agent/process/spawn.h"
#include "common/base/file.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLooks = 100;  // a program that forks faster than it is found is left to its cgroup

// Whether a process has in its environment what is searched for.
struct Mark {
  const std::string& name;
  const std::function<bool(std::string_view)>& doomed;
};

bool is_marked(pid_t pid, const Mark& mark) {
  try {
    const std::string environment = '\0' + read_file("/proc/" + std::to_string(pid) + "/environ") + '\0';
    const std::string head = '\0' + mark.name + '=';
    const std::size_t found = environment.find(head);
    if (found == std::string::npos) return false;
    const std::size_t begin = found + head.size();
    return mark.doomed(std::string_view(environment).substr(begin, environment.find('\0', begin) - begin));
  } catch (const std::system_error&) {
    return false;  // it has ended, or belongs to another user and so to no task
  }
}

// The pidfd is opened before the environment is read, so the process killed is the one looked at.
bool kill_if_marked(pid_t pid, const Mark& mark) {
  const Fd pidfd = open_pidfd(pid);
  if (!pidfd || !is_marked(pid, mark)) return false;
  signal_pidfd(pidfd.get(), SIGKILL);
  return true;
}

// Adds those it kills to `killed`; false when it found none.
bool look_once(const Mark& mark, std::set<pid_t>& killed) {
  bool found = false;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t pid = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc{} || end != name.data() + name.size() || pid == ::getpid()) continue;
    if (!kill_if_marked(pid, mark)) continue;
    killed.insert(pid);
    found = true;
  }
  return found;
}

}  // namespace

int kill_marked(const std::string& variable) {
  const std::size_t equals = variable.find('=');
  return kill_marked(variable.substr(0, equals),
                     [&](std::string_view value) { return value == variable.substr(equals + 1); });
}

int kill_marked(const std::string& name, const std::function<bool(std::string_view)>& doomed) {
  std::set<pid_t> killed;
  for (int look = 0; look < kMaxLooks && look_once({name, doomed}, killed); ++look)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the killed take a moment to be gone
  return static_cast<int>(killed.size());
}

}  // namespace podium
