#include "worker/commands/gang.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstring>
#include <map>
#include <random>
#include <stdexcept>

#include "common/base/logging.h"
#include "common/model/launch.h"
#include "worker/comm/socket.h"

extern char** environ;

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr char kLoopback[] = "127.0.0.1";

std::string random_secret() {
  std::random_device device;
  std::string secret;
  for (int i = 0; i < 8; ++i) secret += fmt::format("{:08x}", device());
  return secret;
}

pid_t start(const fs::path& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program.string());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program.c_str(), nullptr, &attributes, pointers.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::runtime_error("cannot start " + program.string() + ": " + std::strerror(error));
  return pid;
}

// The ranks that run, and what the first failure among the others was.
class Gang {
 public:
  void add(pid_t pid, int rank) { ranks_[pid] = rank; }

  bool running() const { return !ranks_.empty(); }
  int exit_code() const { return exit_code_; }

  void signal_all(int number) const {
    for (const auto& [pid, rank] : ranks_) ::kill(pid, number);
  }

  // Reaps every rank that has ended; the first failure takes the others down.
  void reap() {
    int status = 0;
    for (pid_t pid = 0; running() && (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto ended = ranks_.find(pid);
      if (ended == ranks_.end()) continue;
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      if (code != 0 && exit_code_ == 0) {
        exit_code_ = code;
        if (code != static_cast<int>(WorkerExit::saved))
          spdlog::error("rank {} ended with exit code {}", ended->second, code);
        signal_all(SIGTERM);
      }
      ranks_.erase(ended);
    }
  }

 private:
  std::map<pid_t, int> ranks_;
  int exit_code_ = 0;
};

}  // namespace

LocalMeeting choose_local_meeting() { return {port_of(listen_on(kLoopback, 0)), random_secret()}; }

int run_gang(const fs::path& program, const std::vector<std::vector<std::string>>& arguments) {
  sigset_t watched;
  ::sigemptyset(&watched);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT}) ::sigaddset(&watched, number);
  ::pthread_sigmask(SIG_BLOCK, &watched, nullptr);

  Gang gang;
  for (std::size_t rank = 0; rank < arguments.size(); ++rank)
    gang.add(start(program, arguments[rank]), static_cast<int>(rank));
  const timespec poll{1, 0};
  while (gang.running()) {
    const int number = ::sigtimedwait(&watched, nullptr, &poll);
    if (number == SIGTERM || number == SIGINT) gang.signal_all(SIGTERM);
    gang.reap();
  }
  return gang.exit_code();
}

}  // namespace podium
