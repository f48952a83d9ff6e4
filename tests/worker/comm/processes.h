// Runs one function in several processes of its own, one a rank, and reaps them. The function's value is the
// exit code.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <vector>

#include "worker/comm/socket.h"

namespace podium {

// Free when asked; another process may take it before it is used.
inline int free_port() { return port_of(listen_on("127.0.0.1", 0)); }

class ForkedProcesses {
 public:
  ForkedProcesses(int count, const std::function<int(int rank)>& run) {
    for (int rank = 0; rank < count; ++rank) pids_.push_back(start(run, rank));
  }
  ForkedProcesses(const ForkedProcesses&) = delete;
  ForkedProcesses& operator=(const ForkedProcesses&) = delete;
  ~ForkedProcesses() {
    for (const pid_t pid : pids_)
      if (pid > 0) ::kill(pid, SIGKILL);
    wait_all();
  }

  pid_t pid(int rank) const { return pids_[static_cast<std::size_t>(rank)]; }

  // The exit code of a rank, or minus the signal that ended it.
  int wait(int rank) {
    int status = 0;
    pid_t& pid = pids_[static_cast<std::size_t>(rank)];
    ::waitpid(pid, &status, 0);
    pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  std::vector<int> wait_all() {
    std::vector<int> codes;
    for (std::size_t rank = 0; rank < pids_.size(); ++rank)
      if (pids_[rank] > 0) codes.push_back(wait(static_cast<int>(rank)));
    return codes;
  }

 private:
  static pid_t start(const std::function<int(int)>& run, int rank) {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    std::signal(SIGPIPE, SIG_IGN);
    try {
      std::_Exit(run(rank));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
      std::_Exit(99);
    }
  }

  std::vector<pid_t> pids_;
};

}  // namespace podium
