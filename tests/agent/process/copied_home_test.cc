// A home and its copies, on one machine: whose id, tasks and processes are whose.
#include "agent/process/copied_home.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <functional>
#include <thread>

#include "agent/process/adoption.h"
#include "agent/process/home_id.h"
#include "agent/process/spawn.h"
#include "agent/process/task_exit.h"
#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 6000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return holds();
}

class CopiedHome : public testing::Test {
 protected:
  CopiedHome() { fs::create_directories(home()); }

  ~CopiedHome() override {
    if (!shim_.pidfd) return;
    tell_shim(shim_.pidfd.get(), SIGUSR1, ExitCause::ordered);
    ::waitpid(shim_.pid, nullptr, 0);
  }

  fs::path home() const { return folder_.path() / "home"; }
  fs::path copy() const { return folder_.path() / "copy"; }

  static TaskFolder make_task(const fs::path& home, TaskId task, std::optional<TaskExit> exit) {
    TaskRecord record;
    record.task = task;
    record.exit = std::move(exit);
    const TaskFolder folder(home, task);
    folder.create(record, {});
    return folder;
  }

  // A task of `home` that runs.
  void run(const fs::path& home) { run(home, TaskFolder(home, kRunning).path()); }
  void run(const fs::path& home, const fs::path& named) {
    const TaskFolder folder = make_task(home, kRunning, std::nullopt);
    shim_ = spawn_shim({PODIUM_SHIM,
                        folder.path(),
                        {"sleep", "1000"},
                        {"PATH=/usr/bin:/bin", "PODIUM_TASK_FOLDER=" + named.string()},
                        {},
                        -1});
    ASSERT_TRUE(eventually([&] { return adopt_shim(folder.path()).state == ShimState::alive; }));
  }

  bool lives() const { return ::waitpid(shim_.pid, nullptr, WNOHANG) == 0; }

  static constexpr TaskId kRunning{{{1}, 1}, 0};
  static constexpr TaskId kEnded{{{2}, 1}, 0};
  TempFolder folder_;
  SpawnedShim shim_;
};

// Its agent went on as the original's, which was shut out instead, and killed by the cgroups of that name.
TEST_F(CopiedHome, GetsAnIdOfItsOwn) {
  const std::string id = home_id(home());
  EXPECT_FALSE(part_from_original(home()));
  fs::copy(home(), copy(), fs::copy_options::recursive);
  EXPECT_TRUE(part_from_original(copy()));
  EXPECT_NE(home_id(copy()), id);
  EXPECT_FALSE(part_from_original(copy())) << "once";
  EXPECT_FALSE(part_from_original(home()));
  EXPECT_EQ(home_id(home()), id);
}

TEST_F(CopiedHome, AHomeThatWasMovedIsNone) {
  const std::string id = home_id(home());
  fs::rename(home(), copy());
  EXPECT_FALSE(part_from_original(copy()));
  EXPECT_EQ(home_id(copy()), id);
}

TEST_F(CopiedHome, IsToldFromAHomeOfBeforeOnceThatWasUsedAgain) {
  write_file_atomic(home() / "id", "of-before\n");
  EXPECT_FALSE(part_from_original(home()));
  EXPECT_EQ(home_id(home()), "of-before");
  fs::copy(home(), copy(), fs::copy_options::recursive);
  EXPECT_FALSE(part_from_original(home()));
  EXPECT_TRUE(part_from_original(copy()));
}

TEST_F(CopiedHome, LeavesTasksThatHadNotEndedToTheOriginal) {
  home_id(home());
  make_task(home(), kRunning, std::nullopt);
  make_task(home(), kEnded, TaskExit{3, 0, "said so"});
  fs::copy(home(), copy(), fs::copy_options::recursive);
  ASSERT_TRUE(part_from_original(copy()));
  EXPECT_EQ(TaskFolder(copy(), kRunning).read_record().exit->cause, ExitCause::no_record);
  EXPECT_EQ(TaskFolder(copy(), kEnded).read_record().exit, (TaskExit{3, 0, "said so"}));
  EXPECT_EQ(TaskFolder(home(), kRunning).read_record().exit, std::nullopt);
}

TEST_F(CopiedHome, ALockThatAnotherHoldsOnTheCopyMakesNoShimItsOwn) {
  run(home());
  fs::copy(home(), copy(), fs::copy_options::recursive);
  const fs::path folder = TaskFolder(copy(), kRunning).path();
  EXPECT_EQ(adopt_shim(folder).state, ShimState::gone);
  const Fd lock = open_file(folder / "shim.lock", O_RDWR);
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
  EXPECT_EQ(adopt_shim(folder).state, ShimState::gone) << "the pid in it is the original's";
}

// Its processes' environment names the place where the other home now is.
TEST_F(CopiedHome, InTheOriginalsPlaceDoesNotKillTheProcessesOfTheOneThatWasMoved) {
  run(home());
  fs::rename(home(), copy());
  fs::create_directories(home());
  EXPECT_EQ(kill_strangers(home(), {}), 0);
  EXPECT_TRUE(lives());
  fs::remove_all(copy());
  EXPECT_GT(kill_strangers(home(), {}), 0) << "whose home is gone";
  EXPECT_TRUE(eventually([&] { return !lives(); }));
  shim_.pidfd = {};
}

TEST_F(CopiedHome, ProcessesAreFoundByWhicheverPathTheHomeIsGiven) {
  fs::create_directory_symlink(home(), folder_.path() / "link");
  run(folder_.path() / "link");
  EXPECT_EQ(kill_strangers(home(), {kRunning}), 0);
  EXPECT_TRUE(lives());
  EXPECT_GT(kill_strangers(home(), {}), 0);
  EXPECT_TRUE(eventually([&] { return !lives(); }));
  shim_.pidfd = {};
}

// A process of anybody's could name a folder on a mount that hangs, and the agent hung with it.
TEST_F(CopiedHome, AFolderThatCanBeNoTasksIsNotLookedAt) {
  const fs::path link = folder_.path() / "link";
  fs::create_directory_symlink(TaskFolder(home(), kRunning).path(), link);
  run(home(), link);
  EXPECT_EQ(kill_strangers(home(), {}), 0);
  find_exit(kRunning, TaskFolder(home(), kRunning), std::nullopt, std::nullopt);
  EXPECT_TRUE(lives());
}

}  // namespace
}  // namespace podium
