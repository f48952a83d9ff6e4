// podium-shim: the process between the agent and one task's program. It starts the program in a process group
// (and cgroup) of its own, passes signals on, kills whatever the program leaves behind, and writes exit.json.
// It outlives the agent, so the exit status is never lost; and it stays tiny: no C++ library, no allocation
// after the start.
//
//   podium-shim FOLDER CGROUP NUMA PROGRAM [ARGUMENT...]
//     CGROUP: the task's cgroup folder, or - for none; NUMA: the machine's NUMA node to run on, or - for any
//
// The agent acts first when the lease runs out; where it is dead, the shim stops the program.
//
// Run by the agent with every signal blocked and with the descriptors of shim_protocol.h; FOLDER is the
// task's. It tells the agent "pid N\n", or "error CODE MESSAGE\n" when there is no program to watch. SIGTERM
// goes to the program's group; SIGUSR1 kills it with everything it has started.
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "agent/process/kernel_text.h"
#include "agent/process/numa_binding.h"
#include "agent/process/shim_protocol.h"

namespace {

using namespace podium::shim;

constexpr size_t kExitBytes =
    1024;  // reserved on disk at the start, so that a full disk cannot lose the exit

struct Program {
  pid_t pid = -1;
  const char* cgroup = nullptr;  // null: none
  int numa = -1;                 // -1: any
  long long asked_at = 0;        // to leave, by SIGTERM, in milliseconds since boot; 0: not yet
};

// Tells the agent, if it still listens, and leaves.
[[noreturn]] void give_up(int code, const char* what) {
  dprintf(kReadyFd, "error %d %s: %s\n", code, what, strerror(errno));
  _exit(code);
}

int reserve_exit_file() {
  const int fd = open(kExitDraft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || (errno = posix_fallocate(fd, 0, kExitBytes)) != 0)
    give_up(kCannotWrite, "cannot write the task's folder");
  return fd;
}

void write_exit(int fd, int code, int signal) {
  char text[kExitBytes];
  memset(text, ' ', sizeof text);
  const int length = snprintf(text, sizeof text, R"({"code":%d,"signal":%d})", code, signal);
  text[length] = '\n';
  if (pwrite(fd, text, sizeof text, 0) < 0 || rename(kExitDraft, kExitFile) != 0)
    fprintf(stderr, "podium-shim: cannot write %s: %s\n", kExitFile, strerror(errno));
}

void kill_cgroup(const char* cgroup) {
  char path[4096];
  snprintf(path, sizeof path, "%s/cgroup.kill", cgroup);
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, "1", 1) != 1)
    fprintf(stderr, "podium-shim: cannot write %s: %s\n", path, strerror(errno));
  if (fd >= 0) close(fd);
}

// In the child: waits for the gate to open, so that no program runs that the shim has not told of.
[[noreturn]] void become_program(int gate, int failure, int numa, char** arguments) {
  setpgid(0, 0);
  char byte;
  if (read(gate, &byte, 1) != 1) _exit(kCannotRun);  // the shim was killed
  if (numa >= 0) podium::bind_to_numa_node(numa);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvp(arguments[0], arguments);
  const int error = errno;
  (void)!write(failure, &error, sizeof error);
  _exit(kCannotRun);
}

// Born into the cgroup: a move later would wait for every processor of the machine.
pid_t fork_into(const char* cgroup) {
  if (!cgroup) return fork();
  const int folder = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  clone_args request{};
  request.flags = CLONE_INTO_CGROUP;
  request.exit_signal = SIGCHLD;
  request.cgroup = static_cast<unsigned>(folder);
  const long pid = folder < 0 ? -1 : syscall(SYS_clone3, &request, sizeof request);
  if (folder >= 0) close(folder);
  if (pid >= 0) return static_cast<pid_t>(pid);
  fprintf(stderr, "podium-shim: cannot use the cgroup %s: %s; going on without\n", cgroup, strerror(errno));
  return fork();
}

// Starts the program; 0, or the errno of the exec that failed.
int start(Program& program, char** arguments) {
  int gate[2];
  int failure[2];
  if (pipe2(gate, O_CLOEXEC) != 0 || pipe2(failure, O_CLOEXEC) != 0)
    give_up(kCannotRun, "cannot make a pipe");
  program.pid = fork_into(program.cgroup);
  if (program.pid < 0) give_up(kCannotRun, "cannot fork");
  if (program.pid == 0) {
    close(gate[1]);
    become_program(gate[0], failure[1], program.numa, arguments);
  }
  setpgid(program.pid, program.pid);  // also here: signals may come before the child has run
  close(gate[0]);
  close(failure[1]);
  dprintf(kLockFd, "%d %d\n", static_cast<int>(getpid()), static_cast<int>(program.pid));
  (void)!write(gate[1], "g", 1);
  close(gate[1]);
  int error = 0;
  const bool failed = read(failure[0], &error, sizeof error) == sizeof error;
  close(failure[0]);
  return failed ? error : 0;
}

// SIGKILL to each process whose parent is the shim; false where the kernel does not list them.
bool kill_children() {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", static_cast<int>(getpid()));
  char text[4096];
  if (!podium::read_kernel_text(path, text)) return false;
  for (char* at = text; *at;) {
    char* end = at;
    const long pid = strtol(at, &end, 10);
    if (end == at || *end != ' ') break;  // every number is followed by a blank: this one was cut off
    kill(static_cast<pid_t>(pid), SIGKILL);
    at = end + 1;
  }
  return true;
}

void kill_all(const Program& program) {
  kill(-program.pid, SIGKILL);
  if (program.cgroup) kill_cgroup(program.cgroup);
}

// The program has ended but is not yet reaped, so its group's number cannot belong to anyone else. As a
// subreaper the shim becomes the parent of every process the program leaves behind.
void kill_leftovers(const Program& program) {
  kill_all(program);
  while (kill_children() && waitpid(-1, nullptr, 0) > 0) {
  }
  waitpid(program.pid, nullptr, WNOHANG);
}

long long boot_millis() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

void ask_to_leave(Program& program) {
  if (program.asked_at == 0) program.asked_at = boot_millis();
  kill(-program.pid, SIGTERM);
}

// Without a lease file there is no lease.
void enforce_lease(Program& program, int lease) {
  int64_t end = 0;
  if (pread(lease, &end, sizeof end, 0) != sizeof end || boot_millis() < end + kAgentFirstMillis) return;
  if (program.asked_at == 0) ask_to_leave(program);
  if (boot_millis() >= program.asked_at + kLeaveMillis) kill_all(program);
}

siginfo_t watch(Program& program) {
  const int lease = open(kLeaseFile, O_RDONLY | O_CLOEXEC);
  const timespec second{1, 0};
  sigset_t all;
  sigfillset(&all);
  while (true) {
    const int signal = sigtimedwait(&all, nullptr, &second);
    if (signal < 0) enforce_lease(program, lease);
    if (signal == SIGTERM) ask_to_leave(program);
    if (signal == SIGUSR1) kill_all(program);
    if (signal != SIGCHLD) continue;
    siginfo_t ended{};
    if (waitid(P_PID, static_cast<id_t>(program.pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid != 0)
      return ended;
    // An orphan the shim has inherited: collect it, but never the program itself.
    siginfo_t orphan{};
    while (waitid(P_ALL, 0, &orphan, WEXITED | WNOHANG | WNOWAIT) == 0 && orphan.si_pid != 0 &&
           orphan.si_pid != program.pid) {
      waitpid(orphan.si_pid, nullptr, 0);
      orphan = {};
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5) {
    fputs("podium-shim is started by podium-agent; it is not meant to be run by hand\n", stderr);
    return 64;
  }
  fcntl(kLockFd, F_SETFD, FD_CLOEXEC);
  fcntl(kReadyFd, F_SETFD, FD_CLOEXEC);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  if (chdir(arguments[1]) != 0) give_up(kCannotWrite, "cannot enter the task's folder");
  const int exit_file = reserve_exit_file();

  Program program;
  if (strcmp(arguments[2], "-") != 0) program.cgroup = arguments[2];
  if (strcmp(arguments[3], "-") != 0) program.numa = atoi(arguments[3]);
  if (const int error = start(program, arguments + 4); error != 0) {
    waitpid(program.pid, nullptr, 0);
    write_exit(exit_file, kCannotRun, 0);
    errno = error;
    char what[512];
    snprintf(what, sizeof what, "cannot run %s", arguments[4]);
    give_up(kCannotRun, what);
  }
  dprintf(kReadyFd, "pid %d\n", static_cast<int>(program.pid));
  close(kReadyFd);

  const siginfo_t ended = watch(program);
  kill_leftovers(program);
  const bool exited = ended.si_code == CLD_EXITED;
  write_exit(exit_file, exited ? ended.si_status : 0, exited ? 0 : ended.si_status);
  return 0;
}
