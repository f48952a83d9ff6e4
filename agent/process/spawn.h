// Starts a task's program under podium-shim, in a session of its own: no terminal, no signal of the agent's
// group, and no end of the agent reaches it.
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
};

struct SpawnedShim {
  pid_t pid = -1;
  Fd pidfd;  // readable once the shim has ended
  Fd ready;  // the shim's word, up to its end: see parse_ready
};

// Throws std::system_error that names the file or call; then nothing runs.
SpawnedShim spawn_shim(const SpawnRequest& request);

// Kills a shim that nobody will watch; its program dies with it. One that the kernel holds on to is not
// waited for: collect_ended collects it.
void end_shim(pid_t shim);

// Of this process's children.
void collect_ended();

// What the shim said: the program's pid, or why it does not run.
struct Ready {
  pid_t pid = -1;
  TaskExit exit;  // when pid < 0
};
Ready parse_ready(const std::string& text);

// pidfd_open(2); an empty Fd when there is no such process.
Fd open_pidfd(pid_t pid);

// pidfd_send_signal(2); a process that has ended is not an error.
void signal_pidfd(int pidfd, int signal);

// SIGTERM or SIGUSR1 to a shim, with what exit.json shall say; a shim that was stopped is woken for it.
void tell_shim(int pidfd, int signal, ExitCause cause);

}  // namespace podium
