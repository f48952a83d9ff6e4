// podium-shim with real processes: how programs start, are signalled, end and are found again.
#include "agent/process/spawn.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <iterator>
#include <thread>

#include "agent/process/adoption.h"
#include "agent/process/cgroup.h"
#include "agent/process/lease_file.h"
#include "agent/process/leftovers.h"
#include "agent/process/task_folder.h"
#include "common/base/boot_clock.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr auto kPatience = 60s;

bool eventually(const std::function<bool()>& holds) {
  for (const auto end = std::chrono::steady_clock::now() + kPatience;
       std::chrono::steady_clock::now() < end;) {
    if (holds()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

bool lives(pid_t pid) { return ::kill(pid, 0) == 0; }

class SpawnTest : public testing::Test {
 protected:
  SpawnTest() : folder_(home_.path(), {{{1}, 1}, 0}) { fs::create_directories(folder_.path()); }

  ~SpawnTest() override {
    if (shim_.pidfd) tell_shim(shim_.pidfd.get(), SIGUSR1, ExitCause::ordered);
    if (shim_.pid > 0) ::waitpid(shim_.pid, nullptr, 0);
  }

  Ready start(std::vector<std::string> arguments) {
    SpawnRequest request;
    request.shim = PODIUM_SHIM;
    request.folder = folder_.path();
    request.arguments = std::move(arguments);
    request.cgroup = cgroup_;
    request.numa = numa_;
    request.environment = {"PATH=/usr/bin:/bin", mark()};
    if (!workdir_.empty()) request.environment.push_back("PODIUM_WORKDIR=" + workdir_.string());
    shim_ = spawn_shim(request);
    std::string said(1000, '\0');
    std::size_t used = 0;
    while (const ssize_t count = ::read(shim_.ready.get(), said.data() + used, said.size() - used)) {
      if (count < 0) break;
      used += static_cast<std::size_t>(count);
    }
    said.resize(used);
    return parse_ready(said);
  }

  Ready shell(const std::string& script) { return start({"sh", "-c", script}); }

  std::string mark() const { return "PODIUM_TASK_FOLDER=" + folder_.path().string(); }

  // The shim's end, then the exit it wrote.
  std::optional<TaskExit> wait_for_exit() {
    EXPECT_EQ(::waitpid(shim_.pid, nullptr, 0), shim_.pid);
    shim_.pid = -1;
    return folder_.read_exit();
  }

  // From now on it ends after `left`.
  Time set_lease(Duration left, Duration leave = 30s) const {
    const Time end = BootClock().now() + left;
    TaskLease(folder_.path()).set(end, leave);
    return end;
  }

  std::string output() const { return read_file(folder_.path() / "stdout"); }

  pid_t printed_pid() const {
    const auto text = [&] { return fs::exists(folder_.path() / "stdout") ? output() : std::string(); };
    EXPECT_TRUE(eventually([&] { return text().ends_with('\n'); }));
    return std::stoi(text());
  }

  TempFolder home_;
  TaskFolder folder_;
  fs::path cgroup_;
  int numa_ = -1;
  fs::path workdir_;
  SpawnedShim shim_;
};

TEST_F(SpawnTest, RunsTheProgramInItsFolderWithItsEnvironmentAndFiles) {
  EXPECT_GT(shell("pwd; echo $PODIUM_TASK_FOLDER; env | wc -l; echo wrong >&2; cat").pid, 0);
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, 0, ""}));
  const std::string path = folder_.path();
  // PATH, the mark, and the three that the shell itself sets at most.
  EXPECT_THAT(output(), testing::StartsWith(path + "\n" + path + "\n"));
  EXPECT_EQ(read_file(folder_.path() / "stderr"), "wrong\n");
}

TEST_F(SpawnTest, StartsAProgramOfTheWorkdirThere) {
  workdir_ = home_.path() / "project";
  fs::create_directories(workdir_);
  write_file_atomic(workdir_ / "run.sh", "#!/bin/sh\npwd\n");
  fs::permissions(workdir_ / "run.sh", fs::perms::owner_all);
  EXPECT_GT(start({"./run.sh"}).pid, 0);
  EXPECT_EQ(wait_for_exit(), TaskExit{}) << "exit.json is in the task's folder";
  EXPECT_EQ(output(), workdir_.string() + "\n");
}

TEST_F(SpawnTest, SaysWhenThereIsNoSuchWorkdir) {
  workdir_ = home_.path() / "nowhere";
  const Ready ready = start({"true"});
  EXPECT_LT(ready.pid, 0);
  EXPECT_EQ(ready.exit.message,
            "cannot enter the working folder " + workdir_.string() + ": No such file or directory");
}

TEST_F(SpawnTest, GivesNoDescriptorOfTheAgentsToTheProgram) {
  EXPECT_GT(shell("ls /proc/self/fd").pid, 0);  // 3 is the folder that ls reads
  wait_for_exit();
  EXPECT_EQ(output(), "0\n1\n2\n3\n");
}

TEST_F(SpawnTest, GivesTheProgramNoBlockedOrIgnoredSignals) {
  ::signal(SIGPIPE, SIG_IGN);
  shell("grep -E 'SigBlk|SigIgn' /proc/self/status");
  ::signal(SIGPIPE, SIG_DFL);
  wait_for_exit();
  unsigned long blocked = 1;
  unsigned long ignored = 1;
  ASSERT_EQ(std::sscanf(output().c_str(), "SigBlk: %lx SigIgn: %lx", &blocked, &ignored), 2);
  EXPECT_EQ(blocked, 0U);
  EXPECT_EQ(ignored & 0x7fffffff, 0U);  // above these lie the C library's own
}

TEST_F(SpawnTest, KeepsAProgramOnItsNumaNode) {
  if (!fs::exists("/sys/devices/system/node/node0/cpulist"))
    GTEST_SKIP() << "skipped: waits for a kernel that tells of NUMA nodes";
  numa_ = 0;
  shell("grep Cpus_allowed_list /proc/self/status; grep -c prefer:0 /proc/self/numa_maps");
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, 0, ""})) << "a process whose memory policy prefers node 0";
  EXPECT_THAT(output(), HasSubstr(read_file("/sys/devices/system/node/node0/cpulist")));
}

TEST_F(SpawnTest, RunsAProgramWhoseNumaNodeThereIsNot) {
  numa_ = 900;
  shell("echo runs");
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, 0, ""}));
  EXPECT_EQ(output(), "runs\n");
  EXPECT_THAT(read_file(folder_.path() / "stderr"), HasSubstr("NUMA node 900"));
}

TEST_F(SpawnTest, ReportsExitCodes) {
  shell("exit 65");
  EXPECT_EQ(wait_for_exit(), (TaskExit{65, 0, ""}));
}

TEST_F(SpawnTest, ReportsSignals) {
  shell("kill -SEGV $$");
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, SIGSEGV, ""}));
}

TEST_F(SpawnTest, SaysWhyAProgramCannotRun) {
  const Ready ready = start({"no-such-program", "x"});
  EXPECT_EQ(ready.pid, -1);
  EXPECT_EQ(ready.exit, (TaskExit{127, 0, "cannot run no-such-program: No such file or directory",
                                  ExitCause::cannot_run}));
  ::waitpid(shim_.pid, nullptr, 0);
  shim_.pid = -1;
  EXPECT_EQ(folder_.read_exit(), (TaskExit{127, 0, "", ExitCause::cannot_run}));
}

TEST_F(SpawnTest, TellsWhatIsMissingFromWhatOnlyWentWrong) {
  const auto cause_of = [&](const std::string& program) {
    const Ready ready = start({program});
    EXPECT_EQ(ready.pid, -1) << program;
    ::waitpid(shim_.pid, nullptr, 0);
    shim_.pid = -1;
    return ready.exit.cause;
  };
  const fs::path file = home_.path() / "program";
  write_file_atomic(file, "#!/bin/sh\n", 0600);
  EXPECT_EQ(cause_of(file), ExitCause::cannot_run) << "it is not executable";
  EXPECT_EQ(cause_of(file / "below"), ExitCause::cannot_run) << "a file is no folder";
  fs::permissions(file, fs::perms::owner_all);
  const int writer = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  EXPECT_EQ(cause_of(file), ExitCause::program) << "it is being written just now";
  ::close(writer);
}

TEST_F(SpawnTest, SaysWhenThereIsNoShim) {
  SpawnRequest request;
  request.shim = home_.path() / "podium-shim";
  request.folder = folder_.path();
  request.arguments = {"true"};
  try {
    spawn_shim(request);
    FAIL() << "no exception";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot start " + request.shim.string()));
  }
}

// From now on this thread, and what it starts, cannot open a pidfd.
bool forbid_pidfds() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EMFILE),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{std::size(code), code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// It was told as one that was never started, and ran on.
TEST_F(SpawnTest, AShimThatCannotBeWatchedDoesNotRunOn) {
  bool forbidden = false;
  std::string what;
  std::jthread([&] {
    forbidden = forbid_pidfds();
    if (!forbidden) return;
    try {
      shell("sleep 1000");
    } catch (const std::system_error& error) {
      what = error.what();
    }
  }).join();
  if (!forbidden) GTEST_SKIP() << "skipped: waits for a kernel with seccomp";
  EXPECT_THAT(what, HasSubstr("cannot open process"));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  EXPECT_TRUE(eventually([&] { return kill_marked(mark()) == 0; }));
  EXPECT_FALSE(shim_.pidfd);
}

TEST_F(SpawnTest, PassesSigtermToTheWholeGroup) {
  shell(
      "sh -c 'trap \"echo child; exit\" TERM; echo ready; while :; do sleep 0.01; done' & trap 'wait; exit "
      "7' TERM; wait");
  ASSERT_TRUE(eventually([&] { return fs::exists(folder_.path() / "stdout") && output() == "ready\n"; }));
  tell_shim(shim_.pidfd.get(), SIGTERM, ExitCause::lease);
  EXPECT_EQ(wait_for_exit(), (TaskExit{7, 0, "", ExitCause::lease}));
  EXPECT_EQ(output(), "ready\nchild\n");
}

TEST_F(SpawnTest, KillsAProgramThatIgnoresSigterm) {
  shell("trap '' TERM; echo $$; while :; do sleep 0.01; done");
  const pid_t program = printed_pid();
  tell_shim(shim_.pidfd.get(), SIGTERM, ExitCause::agent_stopped);
  std::this_thread::sleep_for(50ms);
  EXPECT_TRUE(lives(program));
  tell_shim(shim_.pidfd.get(), SIGUSR1, ExitCause::ordered);
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, SIGKILL, "", ExitCause::agent_stopped}))
      << "the first cause counts";
}

// kill -TERM of podium-shim, or a machine that shuts down: the program exits with 0 and has not succeeded.
TEST_F(SpawnTest, ASigtermThatIsNotTheAgentsIsToldApart) {
  shell("trap 'exit 0' TERM; echo $$; while :; do sleep 0.01; done");
  printed_pid();
  ::kill(shim_.pid, SIGTERM);
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, 0, "", ExitCause::signalled}));
}

TEST_F(SpawnTest, ASignalAfterTheProgramsEndIsNotItsCause) {
  shell("echo $$");
  const pid_t program = printed_pid();
  ::kill(shim_.pid, SIGSTOP);
  const auto ended = [&] {
    const fs::path stat = "/proc/" + std::to_string(program) + "/stat";
    return !fs::exists(stat) || read_file(stat).find(") Z ") != std::string::npos;
  };
  ASSERT_TRUE(eventually(ended));
  tell_shim(shim_.pidfd.get(), SIGTERM, ExitCause::ordered);
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, 0, ""}));
}

// As a machine that shuts down sends it: to everybody, and the program may be the quicker.
TEST_F(SpawnTest, ASigtermToShimAndProgramIsNoSuccessWhoeverIsQuicker) {
  shell("trap 'exit 0' TERM; echo $$; while :; do sleep 0.01; done");
  const pid_t program = printed_pid();
  const auto has_state = [](pid_t pid, const char* state) {
    return read_file("/proc/" + std::to_string(pid) + "/stat").find(state) != std::string::npos;
  };
  ::kill(shim_.pid, SIGSTOP);
  ASSERT_TRUE(eventually([&] { return has_state(shim_.pid, ") T "); })) << "it wakes without a signal";
  ::kill(shim_.pid, SIGTERM);
  ::kill(program, SIGTERM);
  ASSERT_TRUE(eventually([&] { return has_state(program, ") Z "); }));
  ::kill(shim_.pid, SIGCONT);
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, 0, "", ExitCause::signalled}));
}

// The time that it explained followed from the lease: who saved for longer had succeeded.
TEST_F(SpawnTest, AProgramThatSavesForLongAfterAStrangersSigtermHasNotSucceeded) {
  set_lease(1h, 200ms);
  shell("trap 'touch told' TERM; echo $$; until [ -e told ]; do sleep 0.01; done; sleep 1; exit 0");
  printed_pid();
  ::kill(shim_.pid, SIGTERM);
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, 0, "", ExitCause::signalled}));
}

// It counted as the word that the lease is over: at its end the program was killed without a moment to leave.
TEST_F(SpawnTest, ASigtermThatTheProgramSurvivedTakesNothingFromItsLease) {
  set_lease(1h, 0ms);
  shell(
      "trap 'touch told' TERM; echo $$; until [ -e told ]; do sleep 0.01; done; trap 'exit 4' TERM; "
      "touch ready; while :; do sleep 0.01; done");
  printed_pid();
  ::kill(shim_.pid, SIGTERM);
  ASSERT_TRUE(eventually([&] { return fs::exists(folder_.path() / "ready"); }));
  set_lease(-10s, 5s);
  EXPECT_EQ(wait_for_exit(), (TaskExit{4, 0, "", ExitCause::lease}));
}

// The program outlived its fence when agent and shim were killed: nobody was left to end it.
TEST_F(SpawnTest, TheProgramDiesWithItsShim) {
  shell("trap '' TERM; echo $$; while :; do sleep 0.01; done");
  const pid_t program = printed_pid();
  ::kill(shim_.pid, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !lives(program); }));
}

TEST_F(SpawnTest, AProgramThatDeletesItsFolderStillEndsAsItDid) {
  shell("rm -rf \"$PODIUM_TASK_FOLDER\"; exit 0");
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, 0, ""}));
}

// The lease was looked at only when a second passed without a signal.
TEST_F(SpawnTest, AProgramOfManyShortLivedChildrenSeesItsLeaseEnd) {
  set_lease(-10s);
  shell("trap 'exit 4' TERM; while :; do (sleep 0 &); done");
  EXPECT_EQ(wait_for_exit(), (TaskExit{4, 0, "", ExitCause::lease}));
}

// The shim held the file open that was deleted, and read no other.
TEST_F(SpawnTest, ALeaseThatIsMadeAnewAfterTheProgramDeletedItCounts) {
  for (const std::string deletes : {"rm lease", "rm -rf \"$PODIUM_TASK_FOLDER\""}) {
    set_lease(2s);
    const Ready ready = shell(deletes + "; sleep 6; exit 3");
    ASSERT_TRUE(eventually([&] { return !TaskLease::exists(folder_.path()); }));
    set_lease(1h);
    EXPECT_EQ(wait_for_exit(), (TaskExit{3, 0, ""})) << deletes;
    EXPECT_FALSE(lives(ready.pid));
  }
}

// The shim read where the folder had been, and ended the task at the end of the lease of before.
TEST_F(SpawnTest, ALeaseThatIsRenewedWhereTheHomeWasMovedToCounts) {
  set_lease(2s);
  shell("sleep 6; exit 3");
  const fs::path moved = home_.path() / "moved";
  fs::create_directory(moved);
  fs::rename(home_.path() / "jobs", moved / "jobs");
  folder_ = TaskFolder(moved, {{{1}, 1}, 0});
  set_lease(1h);
  EXPECT_EQ(wait_for_exit(), (TaskExit{3, 0, ""}));
}

TEST_F(SpawnTest, AProgramEscapesItsLeaseByNothingThatItDoesToTheFile) {
  for (const std::string does : {"rm -f *", "rm lease; mkdir lease", "rm lease; mkfifo lease"}) {
    fs::remove_all(folder_.path() / "lease");
    set_lease(-10s);
    shell("trap 'exit 4' TERM; " + does + "; while :; do sleep 0.01; done");
    EXPECT_EQ(wait_for_exit(), (TaskExit{4, 0, "", ExitCause::lease})) << does;
  }
}

// Each time that it was stopped it looked at nothing.
TEST_F(SpawnTest, AProgramThatKeepsStoppingItsShimSeesItsLeaseEnd) {
  set_lease(-10s);
  shell("trap 'kill -CONT $PPID; exit 4' TERM; while :; do kill -STOP $PPID; kill -CONT $PPID; done");
  EXPECT_EQ(wait_for_exit(), (TaskExit{4, 0, "", ExitCause::lease}));
}

TEST_F(SpawnTest, TheAgentHasTwoSecondsAfterTheLeaseToActFirst) {
  const Time end = set_lease(1s);
  shell("trap 'cat /proc/uptime; exit 0' TERM; while :; do sleep 0.01; done");
  wait_for_exit();
  EXPECT_GE(std::stod(output()) + 0.02, static_cast<double>(to_millis(end)) / 1000 + 2);
}

TEST_F(SpawnTest, AnothersLeaseEndsNoTask) {
  LeaseFile(home_.path()).set({BootClock().now() - 1h, BootClock().now() - 2h, 60s, Duration{}});
  const TaskFolder other(home_.path(), {{{2}, 1}, 0});
  fs::create_directories(other.path());
  TaskLease(other.path()).set(BootClock().now() - 1h, 0ms);
  set_lease(1h);
  shell("sleep 4; exit 3");
  EXPECT_EQ(wait_for_exit(), (TaskExit{3, 0, ""}));
}

// Without an agent, when its time to leave is over.
TEST_F(SpawnTest, AProgramThatIgnoresTheEndOfItsLeaseIsKilled) {
  set_lease(-10s, 2s);
  shell("trap '' TERM; while :; do sleep 0.1; done");
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, SIGKILL, "", ExitCause::lease}));
}

TEST_F(SpawnTest, KillsGrandchildrenEvenInASessionOfTheirOwn) {
  shell("setsid sh -c 'sleep 1000 & echo $!; wait' & wait");
  const pid_t grandchild = printed_pid();
  ASSERT_TRUE(lives(grandchild));
  tell_shim(shim_.pidfd.get(), SIGUSR1, ExitCause::ordered);
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, SIGKILL, "", ExitCause::ordered}));
  EXPECT_TRUE(eventually([&] { return !lives(grandchild); }));
}

TEST_F(SpawnTest, KillsWhatTheProgramLeavesBehind) {
  shell("setsid sleep 1000 & echo $!; exit 3");
  const pid_t orphan = printed_pid();
  EXPECT_EQ(wait_for_exit(), (TaskExit{3, 0, ""}));
  EXPECT_FALSE(lives(orphan));
}

TEST_F(SpawnTest, PutsTheProgramIntoItsCgroup) {
  const auto cgroups = Cgroups::find(home_.path());
  if (!cgroups) GTEST_SKIP() << "skipped: waits for a writable cgroup v2";
  const TaskId task{{{1}, 1}, 0};
  cgroup_ = cgroups->make(task);
  const Ready ready = shell("setsid sleep 1000 & echo $!; wait");
  const pid_t grandchild = printed_pid();
  EXPECT_THAT(read_file(cgroup_ / "cgroup.procs"),
              testing::AllOf(HasSubstr(std::to_string(ready.pid)), HasSubstr(std::to_string(grandchild)),
                             testing::Not(HasSubstr(std::to_string(shim_.pid)))));
  cgroups->kill(task);
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, SIGKILL, ""}));
  EXPECT_TRUE(eventually([&] { return !lives(grandchild); }));
  cgroups->remove(task);
  EXPECT_FALSE(fs::exists(cgroup_));
  cgroups->tidy();
}

TEST_F(SpawnTest, IsFoundAgainWhileItLives) {
  const Ready ready = shell("sleep 1000");
  const AdoptedShim adopted = adopt_shim(folder_.path());
  ASSERT_EQ(adopted.state, ShimState::alive);
  EXPECT_EQ(adopted.program, ready.pid);
  tell_shim(adopted.pidfd.get(), SIGUSR1, ExitCause::ordered);
  pollfd ended{adopted.pidfd.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 60'000), 1);
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, SIGKILL, "", ExitCause::ordered}));
  EXPECT_EQ(adopt_shim(folder_.path()).state, ShimState::gone);
}

TEST_F(SpawnTest, IsUnbornUntilTheProgramRuns) {
  EXPECT_EQ(adopt_shim(folder_.path()).state, ShimState::unborn);
  write_file_atomic(folder_.path() / "shim.lock", "");
  EXPECT_EQ(adopt_shim(folder_.path()).state, ShimState::unborn);
}

TEST_F(SpawnTest, LeavesNoExitWhenTheShimIsKilledButItsProcessesAreFound) {
  shell("setsid sleep 1000 & sleep 1000 & echo $!; wait");
  const pid_t child = printed_pid();
  ::kill(shim_.pid, SIGKILL);
  EXPECT_EQ(wait_for_exit(), std::nullopt);
  EXPECT_EQ(adopt_shim(folder_.path()).state, ShimState::gone);
  EXPECT_TRUE(lives(child));
  EXPECT_GE(kill_marked(mark()), 2) << "the program itself dies with its shim";
  EXPECT_TRUE(eventually([&] { return !lives(child); }));
  EXPECT_EQ(kill_marked(mark()), 0);
}

TEST_F(SpawnTest, KeepsTheExitOfAFullDisk) {
  // The space for exit.json is taken before the program runs; afterwards there is none.
  const std::string mount = home_.path() / "disk";
  fs::create_directories(mount);
  if (std::system(("mount -t tmpfs -o size=64k podium-test " + mount + " 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "skipped: waits for the right to mount a file system";
  folder_ = TaskFolder(mount, {{{1}, 1}, 0});
  fs::create_directories(folder_.path());
  shell("cat /dev/zero; exit 9");
  EXPECT_EQ(wait_for_exit(), (TaskExit{9, 0, ""}));
  EXPECT_EQ(std::system(("umount " + mount).c_str()), 0);
}

TEST_F(SpawnTest, SaysWhenTheDiskIsFullBeforeItStarts) {
  const std::string mount = home_.path() / "disk";
  fs::create_directories(mount);
  if (std::system(("mount -t tmpfs -o size=64k podium-test " + mount + " 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "skipped: waits for the right to mount a file system";
  folder_ = TaskFolder(mount, {{{1}, 1}, 0});
  fs::create_directories(folder_.path());
  EXPECT_NE(std::system(("cat /dev/zero > " + mount + "/filler 2>/dev/null").c_str()), 0);
  const Ready ready = start({"true"});
  EXPECT_EQ(ready.exit.cause, ExitCause::not_started);
  EXPECT_THAT(ready.exit.message, HasSubstr("No space left on device"));
  ::waitpid(shim_.pid, nullptr, 0);
  shim_.pid = -1;
  EXPECT_EQ(std::system(("umount " + mount).c_str()), 0);
}

}  // namespace
}  // namespace podium
