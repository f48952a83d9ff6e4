// podium-shim with real processes: what ends a program whose lease is over.
#include "tests/agent/process/spawn_fixture.h"

namespace podium {
namespace {

class ShimLease : public SpawnTest {};

// It counted as the word that the lease is over: at its end the program was killed without a moment to leave.
TEST_F(ShimLease, ASigtermThatTheProgramSurvivedTakesNothingFromItsLease) {
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

// The lease was looked at only when a second passed without a signal.
TEST_F(ShimLease, AProgramOfManyShortLivedChildrenSeesItsLeaseEnd) {
  set_lease(-10s);
  shell("trap 'exit 4' TERM; while :; do (sleep 0 &); done");
  EXPECT_EQ(wait_for_exit(), (TaskExit{4, 0, "", ExitCause::lease}));
}

// The shim held the file open that was deleted, and read no other.
TEST_F(ShimLease, ALeaseThatIsMadeAnewAfterTheProgramDeletedItCounts) {
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
TEST_F(ShimLease, ALeaseThatIsRenewedWhereTheHomeWasMovedToCounts) {
  set_lease(2s);
  shell("sleep 6; exit 3");
  const fs::path moved = home_.path() / "moved";
  fs::create_directory(moved);
  fs::rename(home_.path() / "jobs", moved / "jobs");
  folder_ = TaskFolder(moved, {{{1}, 1}, 0});
  set_lease(1h);
  EXPECT_EQ(wait_for_exit(), (TaskExit{3, 0, ""}));
}

TEST_F(ShimLease, AProgramEscapesItsLeaseByNothingThatItDoesToTheFile) {
  for (const std::string does : {"rm -f *", "rm lease; mkdir lease", "rm lease; mkfifo lease"}) {
    fs::remove_all(folder_.path() / "lease");
    set_lease(-10s);
    shell("trap 'exit 4' TERM; " + does + "; while :; do sleep 0.01; done");
    EXPECT_EQ(wait_for_exit(), (TaskExit{4, 0, "", ExitCause::lease})) << does;
  }
}

// Each time that it was stopped it looked at nothing.
TEST_F(ShimLease, AProgramThatKeepsStoppingItsShimSeesItsLeaseEnd) {
  set_lease(-10s);
  shell("trap 'kill -CONT $PPID; exit 4' TERM; while :; do kill -STOP $PPID; kill -CONT $PPID; done");
  EXPECT_EQ(wait_for_exit(), (TaskExit{4, 0, "", ExitCause::lease}));
}

TEST_F(ShimLease, TheAgentHasTwoSecondsAfterTheLeaseToActFirst) {
  const Time end = set_lease(1s);
  shell("trap 'cat /proc/uptime; exit 0' TERM; while :; do sleep 0.01; done");
  wait_for_exit();
  EXPECT_GE(std::stod(output()) + 0.02, static_cast<double>(to_millis(end)) / 1000 + 2);
}

TEST_F(ShimLease, AnothersLeaseEndsNoTask) {
  LeaseFile(home_.path()).set({BootClock().now() - 1h, BootClock().now() - 2h, 60s, Duration{}});
  const TaskFolder other(home_.path(), {{{2}, 1}, 0});
  fs::create_directories(other.path());
  TaskLease(other.path()).set(BootClock().now() - 1h, 0ms);
  set_lease(1h);
  shell("sleep 4; exit 3");
  EXPECT_EQ(wait_for_exit(), (TaskExit{3, 0, ""}));
}

// Without an agent, when its time to leave is over.
TEST_F(ShimLease, AProgramThatIgnoresTheEndOfItsLeaseIsKilled) {
  set_lease(-10s, 2s);
  shell("trap '' TERM; while :; do sleep 0.1; done");
  EXPECT_EQ(wait_for_exit(), (TaskExit{0, SIGKILL, "", ExitCause::lease}));
}

}  // namespace
}  // namespace podium
