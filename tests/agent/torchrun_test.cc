// `launcher: torchrun`, with programs of that name in the task's PATH.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/agent/agent_fixture.h"

namespace podium {
namespace {

using testing::HasSubstr;

class Torchrun : public AgentFixture {
 protected:
  Torchrun() { std::filesystem::create_directories(programs()); }

  std::string programs() const { return folder_.path() / "programs"; }
  void install(const std::string& name, const std::string& script) const {
    const std::string path = programs() + "/" + name;
    write_file_atomic(path, "#!/bin/sh\n" + script + "\n");
    ::chmod(path.c_str(), 0755);
  }

  // Runs under torchrun what the arguments say, and returns how it ended.
  TaskExit launch(const std::vector<std::string>& arguments) {
    TaskOrder order = run(task(1), "");
    order.launch.spec.command = arguments;
    order.launch.spec.launcher = Launcher::torchrun;
    order.launch.spec.processes = Processes::node;
    order.launch.spec.env = {{"PATH", programs()}};
    start_agent();
    coordinator_.order({order});
    return wait_for_exit(task(1));
  }
  std::string output() const { return coordinator_.stream(task(1), StreamKind::out); }
};

TEST_F(Torchrun, IsTheProgramInThePathOfTheTask) {
  install("torchrun", "echo \"$# $1,$2 $PET_RDZV_BACKEND $PET_MAX_RESTARTS\"");
  EXPECT_TRUE(launch({"a b.py", "--lr=1"}).succeeded());
  EXPECT_TRUE(eventually([&] { return output() == "2 a b.py,--lr=1 c10d 0\n"; })) << output();
}

TEST_F(Torchrun, IsPythonsModuleWhereThePathHasNone) {
  install("python3", "[ \"$1\" = -c ] || echo \"$@\"");
  EXPECT_TRUE(launch({"train.py", "--lr=1"}).succeeded());
  EXPECT_TRUE(eventually([&] { return output() == "-m torch.distributed.run train.py --lr=1\n"; }))
      << output();
}

TEST_F(Torchrun, IsMissingOnANodeThatHasNeither) {
  install("python3", "exit 1");
  const TaskExit exit = launch({"train.py"});
  EXPECT_EQ(exit.cause, ExitCause::cannot_run);
  EXPECT_THAT(exit.message,
              HasSubstr("neither torchrun nor a python3 with torch is in its PATH (" + programs()));
}

TEST_F(Torchrun, EndsAsTheProcessThatFailedFirst) {
  install("torchrun", R"(echo 'Traceback (most recent call last):
  File "train.py", line 3, in <module>
ValueError: no shard 7
Traceback (most recent call last):
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
Root Cause (first observed failure):
[0]:
  rank      : 5 (local_rank: 1)
  exitcode  : 93 (pid: 102930)
  error_file: <N/A>' >&2
exit 1)");
  const TaskExit exit = launch({"train.py"});
  EXPECT_EQ(exit.code, 93);
  EXPECT_EQ(exit.message, "process of rank 5 failed; the last exception: ValueError: no shard 7");
}

// A script's own 127 is no word of the node.
TEST_F(Torchrun, MayEndWith127Itself) {
  install("torchrun", "exit 127");
  const TaskExit exit = launch({"train.py"});
  EXPECT_EQ(exit.cause, ExitCause::program);
  EXPECT_EQ(exit.code, 127);
}

TEST_F(Torchrun, HandsOnWhatItsProcessRecorded) {
  install("torchrun", R"(echo '{"message":{"message":"KeyError: 1","extraInfo":{"timestamp":"1671400000"}}}')"
                      " >\"$TORCHELASTIC_ERROR_FILE\"; exit 1");
  const TaskExit exit = launch({"train.py"});
  EXPECT_EQ(exit.message, "KeyError: 1");
  EXPECT_EQ(exit.failed_at, from_millis(1'671'400'000'000)) << "the file is of another second";
}

// A program may leave anything in its folder.
TEST_F(Torchrun, PipesAndLinksInItsFolderHoldUpNothing) {
  install("torchrun",
          "cd \"$PODIUM_TASK_FOLDER\"; for file in launch.json error.json; do /bin/rm -f $file; done\n"
          "/usr/bin/mkfifo launch.json; /bin/ln -s /dev/zero error.json; echo 'as it is' >&2; exit 3");
  const TaskExit exit = launch({"train.py"});
  EXPECT_EQ(exit.code, 3);
  EXPECT_EQ(exit.message, "as it is");
  kill_agent();
  start_agent();
  EXPECT_EQ(wait_for_exit(task(1)).code, 3);
}

}  // namespace
}  // namespace podium
