// podium-shim with real processes: how programs are signalled and end, and with whom.
#include "agent/process/leftovers.h"
#include "tests/agent/process/spawn_fixture.h"

namespace podium {
namespace {

class ShimEnd : public SpawnTest {};

TEST_F(ShimEnd, PassesSigtermToTheWholeGroup) {
  shell(
      "trap 'wait; exit 7' TERM; "
      "sh -c 'trap \"echo child; exit\" TERM; echo ready; while :; do sleep 0.01; done' & wait");
  ASSERT_TRUE(eventually([&] { return fs::exists(folder_.path() / "stdout") && output() == "ready\n"; }));
  tell_shim(shim_.pidfd.get(), SIGTERM, ExitCause::lease);
  EXPECT_EQ(wait_for_exit(), (TaskExit{7, 0, "", ExitCause::lease}));
  EXPECT_EQ(output(), "ready\nchild\n");
}

TEST_F(ShimEnd, KillsAProgramThatIgnoresSigterm) {
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
TEST_F(ShimEnd, ASigtermThatIsNotTheAgentsIsToldApart) {
  shell("trap 'exit 0' TERM; echo $$; while :; do sleep 0.01; done");
  printed_pid();
  ::kill(shim_.pid, SIGTERM);
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, 0, "", ExitCause::signalled}));
}

TEST_F(ShimEnd, ASignalAfterTheProgramsEndIsNotItsCause) {
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
TEST_F(ShimEnd, ASigtermToShimAndProgramIsNoSuccessWhoeverIsQuicker) {
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
TEST_F(ShimEnd, AProgramThatSavesForLongAfterAStrangersSigtermHasNotSucceeded) {
  set_lease(1h, 200ms);
  shell("trap 'touch told' TERM; echo $$; until [ -e told ]; do sleep 0.01; done; sleep 1; exit 0");
  printed_pid();
  ::kill(shim_.pid, SIGTERM);
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, 0, "", ExitCause::signalled}));
}

// The program outlived its fence when agent and shim were killed: nobody was left to end it.
TEST_F(ShimEnd, TheProgramDiesWithItsShim) {
  shell("trap '' TERM; echo $$; while :; do sleep 0.01; done");
  const pid_t program = printed_pid();
  ::kill(shim_.pid, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !lives(program); }));
}

TEST_F(ShimEnd, AProgramThatDeletesItsFolderStillEndsAsItDid) {
  shell("rm -rf \"$PODIUM_TASK_FOLDER\"; exit 0");
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, 0, ""}));
}

TEST_F(ShimEnd, KillsGrandchildrenEvenInASessionOfTheirOwn) {
  shell("setsid sh -c 'sleep 1000 & echo $!; wait' & wait");
  const pid_t grandchild = printed_pid();
  ASSERT_TRUE(lives(grandchild));
  tell_shim(shim_.pidfd.get(), SIGUSR1, ExitCause::ordered);
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, SIGKILL, "", ExitCause::ordered}));
  EXPECT_TRUE(eventually([&] { return !lives(grandchild); }));
}

TEST_F(ShimEnd, KillsWhatTheProgramLeavesBehind) {
  shell("setsid sleep 1000 & echo $!; exit 3");
  const pid_t orphan = printed_pid();
  EXPECT_EQ(wait_for_exit(), (TaskExit{3, 0, ""}));
  EXPECT_FALSE(lives(orphan));
}

}  // namespace
}  // namespace podium
