// Starts a task's program under podium-shim, in a session of its own, so that no terminal, no signal to the
// agent's group and no end of the agent affects it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/model/task_exit.h"

namespace podium {

struct SpawnRequest {
  std::filesystem::path shim;    // podium-shim
  std::filesystem::path folder;  // of the task: becomes the working folder
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::filesystem::path cgroup;  // "": none
  int numa = -1;                 // the machine's NUMA node to run on; -1: any
  bool contained = false;        // PODIUM_WORKDIR is no folder of the node
  std::string at_end = {};       // shim_protocol.h, kAtEnd
};

struct SpawnedShim {
  pid_t pid = -1;
  Fd pidfd;  // readable once the shim has ended
  Fd ready;  // read it to its end, for parse_ready
};

// Throws std::system_error naming the file or call; then nothing runs.
SpawnedShim spawn_shim(const SpawnRequest& request);

// Kills a shim that nothing will watch; its program dies with it. Does not wait for a shim that the kernel
// cannot end yet; collect_ended collects it.
void end_shim(pid_t shim);

// Collects this process's ended children.
void collect_ended();

// The shim's message: the program's pid, or why it does not run.
struct Ready {
  pid_t pid = -1;
  TaskExit exit;  // when pid < 0
};
Ready parse_ready(const std::string& text);

// pidfd_open(2); an empty Fd where there is no such process.
Fd open_pidfd(pid_t pid);

// pidfd_send_signal(2); a process that has ended is not an error.
void signal_pidfd(int pidfd, int signal);

// Sends SIGTERM or SIGUSR1 to a shim, with the cause for exit.json; wakes a stopped shim for it.
void tell_shim(int pidfd, int signal, ExitCause cause);

}  // namespace podium
