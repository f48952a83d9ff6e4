#include "coordinator/pilots/program_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

using namespace std::chrono_literals;

const std::atomic<bool> kGoOn = false;

ProgramRun shell(const std::string& script, const std::string& input = "") {
  return {{"sh", "-c", script}, input, {"PATH=/usr/bin:/bin", "WORD=said"}, 60s};
}

TEST(ProgramRun, GivesInputAndEnvironmentAndTakesOutput) {
  const ProgramEnd end = run_program(shell("cat; echo $WORD; echo wrong >&2; exit 3", "in\n"), kGoOn);
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(end.out, "in\nsaid\n");
  EXPECT_EQ(end.err, "wrong\n");
  EXPECT_FALSE(end.timed_out);
}

TEST(ProgramRun, PassesNothingElseOfItsEnvironment) {
  ::setenv("PODIUM_SECRET", "secret", 1);
  EXPECT_EQ(run_program(shell("echo -$PODIUM_SECRET-"), kGoOn).out, "--\n");
}

TEST(ProgramRun, KillsWhatTakesTooLongWithItsChildren) {
  ProgramRun run = shell("sleep 600 & sleep 600");
  run.limit = 200ms;
  const ProgramEnd end = run_program(run, kGoOn);
  EXPECT_TRUE(end.timed_out);
  EXPECT_EQ(end.code, -1);
  EXPECT_EQ(describe_end(run, end), "sh did not end within 200ms");
}

TEST(ProgramRun, KillsItsProgramWhenItIsToStop) {
  const std::atomic<bool> stop = true;
  EXPECT_EQ(run_program(shell("sleep 600"), stop).code, -1);
}

TEST(ProgramRun, BoundsOutput) {
  const ProgramEnd end = run_program(shell("head -c 20000000 /dev/zero"), kGoOn);
  EXPECT_NE(end.code, 0);
  EXPECT_LE(end.out.size(), 4u << 20);
}

TEST(ProgramRun, SaysTheLastLineOfStandardError) {
  const ProgramRun run = shell("printf 'sbatch: error: one\\nsbatch: error: t\\033wo\\n' >&2; exit 1");
  EXPECT_EQ(describe_end(run, run_program(run, kGoOn)), "sbatch: error: t?wo");
  const ProgramRun silent = shell("exit 4");
  EXPECT_EQ(describe_end(silent, run_program(silent, kGoOn)), "sh ended with exit code 4");
}

TEST(ProgramRun, TheProgramHasNoOtherOpenFilesOfThisProcess) {
  const int open = ::dup(2);
  const ProgramEnd end = run_program(shell("ls /proc/self/fd | wc -l"), kGoOn);
  ::close(open);
  EXPECT_EQ(end.out, "4\n");  // its three, and the folder
}

TEST(ProgramRun, AMissingProgramIsAnError) {
  EXPECT_THROW(run_program({{"/no/such/program"}, "", {}, 1s}, kGoOn), std::system_error);
}

TEST(ProgramRun, TheProgramHoldsTheLockAsLongAsItLives) {
  const TempFolder folder;
  Fd held = open_file(folder.path() / "lock", O_RDWR | O_CREAT);
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  ProgramRun run = shell("setsid sleep 600 & echo $!");
  run.held = held.get();
  const pid_t pid = std::stoi(run_program(run, kGoOn).out);
  held = Fd();  // as a coordinator that was killed
  const Fd other = open_file(folder.path() / "lock", O_RDWR);
  EXPECT_NE(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  ::kill(pid, SIGKILL);
  EXPECT_EQ(::flock(other.get(), LOCK_EX), 0);
}

}  // namespace
}  // namespace podium
