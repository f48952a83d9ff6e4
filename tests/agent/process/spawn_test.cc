// podium-shim with real processes: how programs start, are signalled, end and are found again.
#include "agent/process/spawn.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "agent/process/adoption.h"
#include "agent/process/cgroup.h"
#include "agent/process/leftovers.h"
#include "agent/process/task_folder.h"
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
    if (shim_.pidfd) signal_pidfd(shim_.pidfd.get(), SIGUSR1);
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
    GTEST_SKIP() << "the kernel tells of no NUMA nodes";
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
  EXPECT_EQ(ready.exit_code, 127);
  EXPECT_EQ(ready.message, "cannot run no-such-program: No such file or directory");
  ::waitpid(shim_.pid, nullptr, 0);
  shim_.pid = -1;
  EXPECT_EQ(folder_.read_exit(), (TaskExit{127, 0, ""}));
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

TEST_F(SpawnTest, PassesSigtermToTheWholeGroup) {
  shell(
      "sh -c 'trap \"echo child; exit\" TERM; echo ready; while :; do sleep 0.01; done' & trap 'wait; exit "
      "7' TERM; wait");
  ASSERT_TRUE(eventually([&] { return fs::exists(folder_.path() / "stdout") && output() == "ready\n"; }));
  signal_pidfd(shim_.pidfd.get(), SIGTERM);
  EXPECT_EQ(wait_for_exit(), (TaskExit{7, 0, ""}));
  EXPECT_EQ(output(), "ready\nchild\n");
}

TEST_F(SpawnTest, KillsAProgramThatIgnoresSigterm) {
  shell("trap '' TERM; echo $$; while :; do sleep 0.01; done");
  const pid_t program = printed_pid();
  signal_pidfd(shim_.pidfd.get(), SIGTERM);
  std::this_thread::sleep_for(50ms);
  EXPECT_TRUE(lives(program));
  signal_pidfd(shim_.pidfd.get(), SIGUSR1);
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, SIGKILL, ""}));
}

TEST_F(SpawnTest, KillsGrandchildrenEvenInASessionOfTheirOwn) {
  shell("setsid sh -c 'sleep 1000 & echo $!; wait' & wait");
  const pid_t grandchild = printed_pid();
  ASSERT_TRUE(lives(grandchild));
  signal_pidfd(shim_.pidfd.get(), SIGUSR1);
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, SIGKILL, ""}));
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
  if (!cgroups) GTEST_SKIP() << "no writable cgroup v2 here";
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
  signal_pidfd(adopted.pidfd.get(), SIGUSR1);
  pollfd ended{adopted.pidfd.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 60'000), 1);
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, SIGKILL, ""}));
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
  EXPECT_EQ(kill_marked(mark()), 3);
  EXPECT_TRUE(eventually([&] { return !lives(child); }));
  EXPECT_EQ(kill_marked(mark()), 0);
}

TEST_F(SpawnTest, KeepsTheExitOfAFullDisk) {
  // The space for exit.json is taken before the program runs; afterwards there is none.
  const std::string mount = home_.path() / "disk";
  fs::create_directories(mount);
  if (std::system(("mount -t tmpfs -o size=64k podium-test " + mount + " 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "cannot mount a small file system here";
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
    GTEST_SKIP() << "cannot mount a small file system here";
  folder_ = TaskFolder(mount, {{{1}, 1}, 0});
  fs::create_directories(folder_.path());
  EXPECT_NE(std::system(("cat /dev/zero > " + mount + "/filler 2>/dev/null").c_str()), 0);
  const Ready ready = start({"true"});
  EXPECT_EQ(ready.exit_code, 73);
  EXPECT_THAT(ready.message, HasSubstr("No space left on device"));
  ::waitpid(shim_.pid, nullptr, 0);
  shim_.pid = -1;
  EXPECT_EQ(std::system(("umount " + mount).c_str()), 0);
}

}  // namespace
}  // namespace podium
