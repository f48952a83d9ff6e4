// Starts a task's program under podium-shim, in a session of its own: no terminal, no signal of the agent's
// group, and no end of the agent reaches it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/file.h"

namespace podium {

struct SpawnRequest {
  std::filesystem::path shim;    // podium-shim
  std::filesystem::path folder;  // of the task: becomes the working folder
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::filesystem::path cgroup;  // "": none
  int numa = -1;                 // the machine's NUMA node to run on; -1: any
};

struct SpawnedShim {
  pid_t pid = -1;
  Fd pidfd;  // readable once the shim has ended
  Fd ready;  // the shim's word, up to its end: see parse_ready
};

// Throws std::system_error that names the file or call.
SpawnedShim spawn_shim(const SpawnRequest& request);

// What the shim said: the program's pid, or why it does not run.
struct Ready {
  pid_t pid = -1;
  int exit_code = 0;    // when pid < 0
  std::string message;  // likewise
};
Ready parse_ready(const std::string& text);

// pidfd_open(2); an empty Fd when there is no such process.
Fd open_pidfd(pid_t pid);

// pidfd_send_signal(2); a process that has ended is not an error.
void signal_pidfd(int pidfd, int signal);

}  // namespace podium
