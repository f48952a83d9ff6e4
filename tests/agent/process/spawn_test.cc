// podium-shim with real processes: how programs start, and are found again.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <iterator>

#include "agent/process/adoption.h"
#include "agent/process/cgroup.h"
#include "agent/process/leftovers.h"
#include "tests/agent/process/spawn_fixture.h"

namespace podium {
namespace {

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
  EXPECT_EQ(ready.exit,
            (TaskExit{127, 0, "cannot run no-such-program: No such file or directory in the folders of PATH",
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
