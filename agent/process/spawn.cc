#include "agent/process/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <system_error>
#include <thread>

#include "agent/process/shim_protocol.h"

namespace podium {
namespace {

constexpr auto kEndPause = std::chrono::milliseconds(5);
constexpr int kEndTries = 100;

void expect(int error, const std::string& what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

// Above the shim's own numbers, so that putting one in its place cannot overwrite the other.
Fd moved_up(Fd fd) {
  const int moved = ::fcntl(fd.get(), F_DUPFD_CLOEXEC, shim::kFirstClosedFd);
  if (moved < 0) expect(errno, "cannot duplicate a descriptor");
  return Fd(moved);
}

Fd locked_file(const std::filesystem::path& path) {
  Fd fd = open_file(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) expect(errno, "cannot lock " + path.string());
  return moved_up(std::move(fd));
}

class FileActions {
 public:
  FileActions() { expect(::posix_spawn_file_actions_init(&actions_), "cannot prepare a process"); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

class Attributes {
 public:
  Attributes() { expect(::posix_spawnattr_init(&attributes_), "cannot prepare a process"); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  posix_spawnattr_t* get() { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

void set_files(FileActions& actions, const std::filesystem::path& folder, int lock, int ready) {
  auto* raw = actions.get();
  constexpr int kAppend = O_WRONLY | O_CREAT | O_APPEND;
  const std::string out = folder / "stdout";
  const std::string err = folder / "stderr";
  expect(::posix_spawn_file_actions_addopen(raw, STDIN_FILENO, "/dev/null", O_RDONLY, 0),
         "cannot prepare a process");
  expect(::posix_spawn_file_actions_addopen(raw, STDOUT_FILENO, out.c_str(), kAppend, 0600),
         "cannot prepare a process");
  expect(::posix_spawn_file_actions_addopen(raw, STDERR_FILENO, err.c_str(), kAppend, 0600),
         "cannot prepare a process");
  expect(::posix_spawn_file_actions_adddup2(raw, lock, shim::kLockFd), "cannot prepare a process");
  expect(::posix_spawn_file_actions_adddup2(raw, ready, shim::kReadyFd), "cannot prepare a process");
  expect(::posix_spawn_file_actions_addclosefrom_np(raw, shim::kFirstClosedFd), "cannot prepare a process");
}

// All signals are blocked, so that none ends the shim before it is ready.
void set_signals(Attributes& attributes) {
  sigset_t all;
  ::sigfillset(&all);
  expect(::posix_spawnattr_setsigmask(attributes.get(), &all), "cannot prepare a process");
  expect(::posix_spawnattr_setsigdefault(attributes.get(), &all), "cannot prepare a process");
  expect(::posix_spawnattr_setflags(attributes.get(),
                                    POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF),
         "cannot prepare a process");
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment_of_shim(const SpawnRequest& request) {
  std::vector<std::string> variables = request.environment;
  for (std::string& variable : variables)
    if (variable.starts_with("LD_") || variable.starts_with("GLIBC_TUNABLES=") ||
        (request.contained && variable.starts_with("PODIUM_WORKDIR=")))
      variable.insert(0, shim::kForProgram);
  if (!request.at_end.empty()) variables.push_back(std::string(shim::kAtEnd) + "=" + request.at_end);
  return variables;
}

}  // namespace

SpawnedShim spawn_shim(const SpawnRequest& request) {
  const Fd lock = locked_file(request.folder / shim::kLockFile);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) expect(errno, "cannot make a pipe");
  SpawnedShim spawned;
  spawned.ready = Fd(ends[0]);
  const Fd write_end = moved_up(Fd(ends[1]));

  FileActions actions;
  set_files(actions, request.folder, lock.get(), write_end.get());
  Attributes attributes;
  set_signals(attributes);
  std::vector<std::string> arguments{request.shim, request.folder,
                                     request.cgroup.empty() ? "-" : request.cgroup.string(),
                                     request.numa < 0 ? "-" : std::to_string(request.numa)};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  std::vector<std::string> environment = environment_of_shim(request);
  expect(::posix_spawn(&spawned.pid, request.shim.c_str(), actions.get(), attributes.get(),
                       pointers(arguments).data(), pointers(environment).data()),
         "cannot start " + request.shim.string() + " in " + request.folder.string());
  try {
    spawned.pidfd = open_pidfd(spawned.pid);
    if (!spawned.pidfd) expect(ESRCH, "cannot watch the new process");
  } catch (const std::system_error&) {
    end_shim(spawned.pid);
    throw;
  }
  return spawned;
}

void end_shim(pid_t shim) {
  ::kill(shim, SIGKILL);
  for (int tries = 0; tries < kEndTries && ::waitpid(shim, nullptr, WNOHANG) == 0; ++tries)
    std::this_thread::sleep_for(kEndPause);
}

void collect_ended() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

Ready parse_ready(const std::string& text) {
  Ready ready;
  const char* end = text.data() + text.size();
  if (text.starts_with("pid ")) {
    std::from_chars(text.data() + 4, end, ready.pid);
  } else if (const bool missing = text.starts_with("missing "); missing || text.starts_with("failed ")) {
    const auto [at, error] = std::from_chars(text.data() + text.find(' ') + 1, end, ready.exit.code);
    if (error == std::errc{} && at < end) ready.exit.message = std::string(at + 1, end);
    if (missing) ready.exit.cause = ExitCause::cannot_run;
  } else if (text.starts_with("error ")) {
    ready.exit.message = text.substr(6);
  }
  while (ready.exit.message.ends_with('\n')) ready.exit.message.pop_back();
  if (ready.pid >= 0 || ready.exit.code != 0) return ready;
  ready.exit.cause = ExitCause::not_started;
  if (ready.exit.message.empty()) ready.exit.message = "podium-shim ended before it started the program";
  return ready;
}

Fd open_pidfd(pid_t pid) {
  const long fd = ::syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0 && errno != ESRCH) expect(errno, "cannot open process " + std::to_string(pid));
  return Fd(static_cast<int>(fd));
}

void signal_pidfd(int pidfd, int signal) {
  if (::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) != 0 && errno != ESRCH)
    expect(errno, "cannot signal a process");
}

void tell_shim(int pidfd, int signal, ExitCause cause) {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value.sival_int = static_cast<int>(cause);
  if (::syscall(SYS_pidfd_send_signal, pidfd, signal, &info, 0) != 0 && errno != ESRCH)
    expect(errno, "cannot signal podium-shim");
  signal_pidfd(pidfd, SIGCONT);
}

}  // namespace podium
