#include "coordinator/pilots/program_run.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <system_error>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/base/units.h"

namespace podium {
namespace {

constexpr off_t kMostOutput = 4 << 20;
constexpr int kHeldAs = 3;
constexpr std::size_t kLongestWordsOfProgram = 300;

[[noreturn]] void fail_to_run(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

Fd memory_file(const char* name) {
  Fd file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) fail_to_run(errno, "cannot make a file in memory");
  return file;
}

// Writes beyond its size fail.
Fd bounded_file(const char* name) {
  Fd file = memory_file(name);
  if (::ftruncate(file.get(), kMostOutput) != 0 || ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_GROW) != 0)
    fail_to_run(errno, "cannot bound a file in memory");
  return file;
}

// Up to where the program, which shares its offset, has written.
std::string written(const Fd& file) {
  const off_t end = std::min(::lseek(file.get(), 0, SEEK_CUR), kMostOutput);
  std::string text(static_cast<std::size_t>(std::max<off_t>(end, 0)), '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

class SpawnSettings {
 public:
  SpawnSettings(const Fd& in, const Fd& out, const Fd& err, int held) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, in.get(), 0);
    ::posix_spawn_file_actions_adddup2(&actions_, out.get(), 1);
    ::posix_spawn_file_actions_adddup2(&actions_, err.get(), 2);
    if (held >= 0) ::posix_spawn_file_actions_adddup2(&actions_, held, kHeldAs);
    // Sockets of this process, too: one that listens would stay open.
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, held >= 0 ? kHeldAs + 1 : kHeldAs);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none, usual;
    sigemptyset(&none);
    sigfillset(&usual);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &usual);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  pid_t spawn(const ProgramRun& run) {
    pid_t pid = 0;
    const int error = ::posix_spawnp(&pid, run.command.front().c_str(), &actions_, &attributes_,
                                     pointers(run.command).data(), pointers(run.environment).data());
    if (error != 0) fail_to_run(error, "cannot run " + run.command.front());
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Whether the program ended before it had to be killed.
bool await_end(pid_t pid, Duration limit, const std::atomic<bool>& stop) {
  constexpr int kLook = 100;  // milliseconds
  const Fd ends(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!stop && std::chrono::steady_clock::now() < until) {
    pollfd poll{ends.get(), POLLIN, 0};
    if (::poll(&poll, 1, kLook) > 0) return true;
  }
  ::kill(-pid, SIGKILL);
  return false;
}

}  // namespace

ProgramEnd run_program(const ProgramRun& run, const std::atomic<bool>& stop) {
  const Fd in = memory_file("in"), out = bounded_file("out"), err = bounded_file("err");
  write_all(in.get(), run.input, "a file in memory");
  ::lseek(in.get(), 0, SEEK_SET);
  const pid_t pid = SpawnSettings(in, out, err, run.held).spawn(run);
  ProgramEnd end;
  end.timed_out = !await_end(pid, run.limit, stop);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) {
    end.code = WEXITSTATUS(status);
    end.timed_out = false;
  }
  end.out = written(out);
  end.err = written(err);
  return end;
}

std::string describe_end(const ProgramRun& run, const ProgramEnd& end) {
  const std::string& name = run.command.front();
  if (end.timed_out) return name + " did not end within " + format_duration(run.limit);
  std::string text = end.err;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  text.erase(0, text.rfind('\n') + 1);
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  if (text.empty()) return name + " ended with exit code " + std::to_string(end.code);
  return cut_text(std::move(text), kLongestWordsOfProgram);
}

}  // namespace podium
