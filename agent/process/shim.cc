// podium-shim: the process between the agent and one task's program. It starts the program in a process group
// (and cgroup) of its own, passes signals on, kills whatever the program leaves behind, and writes exit.json.
// It outlives the agent, so the exit status is never lost; and it stays tiny: no C++ library, no allocation
// after the start.
//
//   podium-shim FOLDER CGROUP NUMA PROGRAM [ARGUMENT...]
//     PODIUM_WORKDIR in its environment: where PROGRAM starts; else in FOLDER
//     CGROUP: the task's cgroup folder, or - for none; NUMA: the machine's NUMA node to run on, or - for any
//     PODIUM_STOP_SIGNAL in its environment: the signal that asks PROGRAM to leave; else SIGTERM. kStopFile
//     is made before it is sent kAtEnd in its environment: what is run once PROGRAM has ended
//
// The agent acts first when the lease runs out; where it is dead, the shim stops the program.
//
// Run by the agent with every signal blocked and with the descriptors of shim_protocol.h; FOLDER is the
// task's. It tells the agent "pid N\n", "failed CODE MESSAGE\n" when the program cannot be executed, or
// "error MESSAGE\n" when it could not try. SIGTERM asks the program's group to leave; SIGUSR1 kills it with
// everything it has started. The agent queues both with an ExitCause, of which the first that comes while the
// program lives is what exit.json says. A signal without a cause comes from elsewhere: it explains an end
// that follows within five minutes.
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "agent/process/kernel_text.h"
#include "agent/process/numa_binding.h"
#include "agent/process/run_at_end.h"
#include "agent/process/shim_protocol.h"
#include "common/model/exit_cause.h"
#include "common/model/lease.h"

namespace {

using namespace podium::shim;
using podium::ExitCause;

constexpr size_t kExitBytes =
    1024;  // reserved on disk at the start, so that a full disk cannot lose the exit

// Longer than a machine gives its programs when it shuts down, and than a program needs to save.
constexpr long long kStrangerExplains = 5 * 60 * 1000;

struct Program {
  pid_t pid = -1;
  const char* cgroup = nullptr;  // null: none
  int numa = -1;                 // -1: any
  int stop_signal = SIGTERM;     // asks it to leave
  char lease[4096] = "";         // the file in the folder's first place
  ExitCause cause = ExitCause::program;
  // In milliseconds since boot; 0: not yet.
  long long lease_ended = 0;    // when the program was asked to leave for it
  long long stranger_came = 0;  // the newest signal that was not the agent's
  LeaseEnd right{};             // as read last; an end of 0: there is no lease
};

// Tells the agent, if it still listens, and exits.
[[noreturn]] void give_up(const char* what) {
  dprintf(kReadyFd, "error %s: %s\n", what, strerror(errno));
  _exit(1);
}

int reserve_exit_file() {
  const int fd = open(kExitDraft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || (errno = posix_fallocate(fd, 0, kExitBytes)) != 0) give_up("cannot write the task's folder");
  return fd;
}

void write_exit(int fd, const char* folder, int code, int signal, ExitCause cause) {
  char text[kExitBytes];
  memset(text, ' ', sizeof text);
  const int length = snprintf(text, sizeof text, R"({"code":%d,"signal":%d,"cause":"%s"})", code, signal,
                              podium::name_of(cause));
  text[length] = '\n';
  if (pwrite(fd, text, sizeof text, 0) == sizeof text && rename(kExitDraft, kExitFile) == 0) return;
  // A program may have deleted its folder: the folder is made again for its exit.json.
  mkdir(folder, 0700);
  const int again = chdir(folder) == 0 ? open(kExitFile, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (again < 0 || pwrite(again, text, sizeof text, 0) != sizeof text)
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

// In the child. `error`: the errno of exec; negative: of entering the working folder.
[[noreturn]] void tell_failure(int failure, int error) {
  (void)!write(failure, &error, sizeof error);
  _exit(kCannotRun);
}

// In the child: waits for the gate to open, so that no program runs that the shim has not told of. Dies with
// the shim: without one nobody would end the program when the lease does. (A shim that dies before it is
// asked for that leaves the gate shut.)
[[noreturn]] void become_program(int gate, int failure, int numa, char** arguments) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  char byte;
  if (read(gate, &byte, 1) != 1) _exit(kCannotRun);  // the shim was killed
  if (numa >= 0) podium::bind_to_numa_node(numa);
  const char* workdir = getenv("PODIUM_WORKDIR");
  if (workdir && chdir(workdir) != 0) tell_failure(failure, -errno);
  for (char** variable = environ; *variable; ++variable)
    if (strncmp(*variable, kForProgram, sizeof kForProgram - 1) == 0) *variable += sizeof kForProgram - 1;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvp(arguments[0], arguments);
  tell_failure(failure, errno);
}

// The child is created in the cgroup: a later move would wait for every processor of the machine.
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

// Starts the program; 0, or what tell_failure says.
int start(Program& program, char** arguments) {
  int gate[2];
  int failure[2];
  if (pipe2(gate, O_CLOEXEC) != 0 || pipe2(failure, O_CLOEXEC) != 0) give_up("cannot make a pipe");
  program.pid = fork_into(program.cgroup);
  if (program.pid < 0) give_up("cannot fork");
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

void note_cause(Program& program, ExitCause cause) {
  if (cause == ExitCause::signalled)
    program.stranger_came = boot_millis();
  else if (program.cause == ExitCause::program)
    program.cause = cause;
}

// The exit of a program that has just ended.
ExitCause cause_of_end(const Program& program) {
  const bool strangers =
      program.stranger_came != 0 && boot_millis() <= program.stranger_came + kStrangerExplains;
  return program.cause == ExitCause::program && strangers ? ExitCause::signalled : program.cause;
}

// The cause that the agent sends with its signal; other senders queue none.
ExitCause cause_of(const siginfo_t& signal) {
  const int value = signal.si_value.sival_int;
  const bool told = signal.si_code == SI_QUEUE && value > 0 && value < podium::kExitCauses;
  return told ? static_cast<ExitCause>(value) : ExitCause::signalled;
}

// The file stays: a program that looks for it late, or again, finds it. Nothing is written, so that a full
// disk does not matter; where the program has deleted its folder, the signal is all it gets.
void ask_to_leave(Program& program, ExitCause cause) {
  note_cause(program, cause);
  const int file = open(kStopFile, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  kill(-program.pid, program.stop_signal);
}

// As `stop.signal` of a spec names them; an unknown name is SIGTERM.
int stop_signal_of(const char* name) {
  if (!name) return SIGTERM;
  if (strcmp(name, "INT") == 0) return SIGINT;
  if (strcmp(name, "USR1") == 0) return SIGUSR1;
  if (strcmp(name, "USR2") == 0) return SIGUSR2;
  return SIGTERM;
}

// Anew each time. First in the working folder, which is the task's also where its home was moved. Where the
// program has deleted the folder, the agent makes another in its place. What was read last counts until then.
void read_lease(Program& program) {
  int lease = open(kLeaseFile, kLeaseFlags);
  if (lease < 0 && errno == ENOENT) lease = open(program.lease, kLeaseFlags);
  LeaseEnd right;
  if (pread(lease, &right, sizeof right, 0) == sizeof right) program.right = right;
  if (lease >= 0) close(lease);
}

// The program has its grace period from the end of the lease, whatever it was told before.
void enforce_lease(Program& program) {
  read_lease(program);
  const LeaseEnd& right = program.right;
  if (right.end == 0 || boot_millis() < right.end + podium::lease::kAgentFirst.count()) return;
  if (program.lease_ended == 0) {
    program.lease_ended = boot_millis();
    ask_to_leave(program, ExitCause::lease);
  }
  if (boot_millis() >= program.lease_ended + right.leave) kill_all(program);
}

// Orphans that the shim has inherited are collected, but never the program itself.
void collect_orphans(const Program& program) {
  siginfo_t orphan{};
  while (waitid(P_ALL, 0, &orphan, WEXITED | WNOHANG | WNOWAIT) == 0 && orphan.si_pid != 0 &&
         orphan.si_pid != program.pid) {
    waitpid(orphan.si_pid, nullptr, 0);
    orphan = {};
  }
}

// The cause of a SIGTERM that is pending although the program has ended.
void note_waiting_stranger(Program& program) {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  const timespec now{};
  siginfo_t told{};
  if (sigtimedwait(&term, &told, &now) == SIGTERM && cause_of(told) == ExitCause::signalled)
    note_cause(program, ExitCause::signalled);
}

// Every turn looks first whether the program has ended, so that the agent's signal which came later is not
// its cause (a stranger may have sent the program its SIGTERM as well), and at the lease, however many
// signals come.
siginfo_t watch(Program& program) {
  const timespec look{std::chrono::duration_cast<std::chrono::seconds>(podium::lease::kShimLooks).count(), 0};
  sigset_t all;
  sigfillset(&all);
  while (true) {
    siginfo_t told{};
    const int signal = sigtimedwait(&all, &told, &look);
    const ExitCause cause = cause_of(told);
    if (signal == SIGTERM && cause == ExitCause::signalled) note_cause(program, cause);
    siginfo_t ended{};
    if (waitid(P_PID, static_cast<id_t>(program.pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid != 0) {
      note_waiting_stranger(program);
      return ended;
    }
    enforce_lease(program);
    if (signal == SIGTERM) ask_to_leave(program, cause);
    if (signal == SIGUSR1) {
      note_cause(program, cause);
      kill_all(program);
    }
    if (signal == SIGCHLD) collect_orphans(program);
  }
}

// In PATH, as execvp does.
bool is_looked_up(const char* program) { return strchr(program, '/') == nullptr; }

// Whether another try on this node would fail as well. `error` is negative for errors of the working folder.
bool is_missing(int error) {
  const int code = error < 0 ? -error : error;
  return code == ENOENT || code == EACCES || code == ENOTDIR || code == ENOEXEC;
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
  if (chdir(arguments[1]) != 0) give_up("cannot enter the task's folder");
  const int exit_file = reserve_exit_file();

  Program program;
  if (strcmp(arguments[2], "-") != 0) program.cgroup = arguments[2];
  if (strcmp(arguments[3], "-") != 0) program.numa = atoi(arguments[3]);
  program.stop_signal = stop_signal_of(getenv("PODIUM_STOP_SIGNAL"));
  snprintf(program.lease, sizeof program.lease, "%s/%s", arguments[1], kLeaseFile);
  read_lease(program);  // before the program can delete it
  if (const int error = start(program, arguments + 4); error != 0) {
    waitpid(program.pid, nullptr, 0);
    const char* said = is_missing(error) ? "missing" : "failed";
    write_exit(exit_file, arguments[1], kCannotRun, 0,
               is_missing(error) ? ExitCause::cannot_run : ExitCause::program);
    if (error < 0)
      dprintf(kReadyFd, "%s %d cannot enter the working folder %s: %s\n", said, kCannotRun,
              getenv("PODIUM_WORKDIR"), strerror(-error));
    else
      dprintf(kReadyFd, "%s %d cannot run %s: %s%s\n", said, kCannotRun, arguments[4], strerror(error),
              is_looked_up(arguments[4]) && error == ENOENT ? " in the folders of PATH" : "");
    return 1;
  }
  dprintf(kReadyFd, "pid %d\n", static_cast<int>(program.pid));
  close(kReadyFd);

  const siginfo_t ended = watch(program);
  const ExitCause cause = cause_of_end(program);
  podium::run_at_end(getenv(kAtEnd));  // first: a runtime removes best what it finds alive
  kill_leftovers(program);
  const bool exited = ended.si_code == CLD_EXITED;
  write_exit(exit_file, arguments[1], exited ? ended.si_status : 0, exited ? 0 : ended.si_status, cause);
  return 0;
}
