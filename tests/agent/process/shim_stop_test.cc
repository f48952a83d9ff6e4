// podium-shim with real processes: how a program learns that it is to leave, and what runs once it has.
#include "agent/process/shim_protocol.h"
#include "tests/agent/process/spawn_fixture.h"

namespace podium {
namespace {

class ShimStop : public SpawnTest {
 protected:
  fs::path stop_file() const { return folder_.path() / shim::kStopFile; }
};

TEST_F(ShimStop, TheStopFileIsThereBeforeTheSignal) {
  shell(
      "trap 'test -e \"$PODIUM_TASK_FOLDER/stop\" && exit 79; exit 1' TERM; echo $$; while :; do sleep 0.01; "
      "done");
  printed_pid();
  EXPECT_FALSE(fs::exists(stop_file()));
  tell_shim(shim_.pidfd.get(), SIGTERM, ExitCause::ordered);
  EXPECT_EQ(wait_for_exit(), (TaskExit{79, 0, "", ExitCause::ordered}));
}

TEST_F(ShimStop, AProgramThatIgnoresSignalsMayWatchForTheFile) {
  shell("trap '' TERM; echo $$; until [ -e \"$PODIUM_TASK_FOLDER/stop\" ]; do sleep 0.01; done; exit 79");
  printed_pid();
  tell_shim(shim_.pidfd.get(), SIGTERM, ExitCause::ordered);
  EXPECT_EQ(wait_for_exit(), (TaskExit{79, 0, "", ExitCause::ordered}));
}

TEST_F(ShimStop, AnotherSignalAsksAProgramThatWantsIt) {
  for (const auto& [name, heard] :
       {std::pair("USR1", "USR1"), {"USR2", "USR2"}, {"INT", "INT"}, {"TERM", "TERM"}, {"WINCH", "TERM"}}) {
    variables_ = {std::string("PODIUM_STOP_SIGNAL=") + name};
    fs::remove(folder_.path() / "stdout");
    shell(
        "for s in TERM INT USR1 USR2; do trap \"echo $s; exit 79\" $s; done; echo $$; while :; do sleep "
        "0.01; done");
    const std::string pid = std::to_string(printed_pid());
    tell_shim(shim_.pidfd.get(), SIGTERM, ExitCause::ordered);
    EXPECT_EQ(wait_for_exit(), (TaskExit{79, 0, "", ExitCause::ordered}));
    EXPECT_EQ(output(), pid + "\n" + heard + "\n");
  }
}

TEST_F(ShimStop, TheEndOfTheLeaseAsksInTheSameWay) {
  variables_ = {"PODIUM_STOP_SIGNAL=USR1"};
  set_lease(0s);
  shell(
      "trap 'test -e \"$PODIUM_TASK_FOLDER/stop\" && exit 79; exit 1' USR1; echo $$; while :; do sleep 0.01; "
      "done");
  EXPECT_EQ(wait_for_exit(), (TaskExit{79, 0, "", ExitCause::lease}));
}

// A container that a daemon keeps alive is no child of the shim. Its runtime finds alive what it is to
// remove.
TEST_F(ShimStop, WhatIsToRunAtTheEndRunsBeforeTheRestIsKilledAndTheExitIsTold) {
  const std::string script = "test ! -e \"$1\"/exit.json && kill -9 $(cat \"$1\"/left) && echo >> \"$1/a b\"";
  variables_ = {std::string(shim::kAtEnd) + "=sh\n-c\n" + script + "\nsh\n" + folder_.path().string()};
  shell("setsid sleep 1000 & echo $! > \"$PODIUM_TASK_FOLDER/left\"; exit 3");
  EXPECT_EQ(wait_for_exit(), (TaskExit{3, 0, ""}));
  EXPECT_EQ(read_file(folder_.path() / "a b"), "\n");
}

TEST_F(ShimStop, WhatFailsAtTheEndIsTriedAgainTwice) {
  const fs::path tries = folder_.path() / "tries";
  const auto run = [&](const std::string& script) {
    fs::remove(tries);
    variables_ = {std::string(shim::kAtEnd) + "=sh\n-c\necho >> \"$1\"; " + script + "\nsh\n" +
                  tries.string()};
    shell("exit 0");
    EXPECT_EQ(wait_for_exit(), (TaskExit{0, 0, ""}));
    return read_file(tries).size();
  };
  EXPECT_EQ(run("test $(wc -l < \"$1\") = 2"), 2u);
  EXPECT_EQ(run("exit 1"), 3u);
}

TEST_F(ShimStop, WhatIsToRunAtTheEndMayBeMissing) {
  variables_ = {std::string(shim::kAtEnd) + "=/nothing/here\nrm"};
  shell("exit 3");
  EXPECT_EQ(wait_for_exit(), (TaskExit{3, 0, ""}));
}

}  // namespace
}  // namespace podium
