// What stays in a folder of checkpoints, whose it is, and what a disk that refuses something costs.
#include "worker/checkpoint/folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "tests/worker/checkpoint/fixture.h"
#include "tests/worker/comm/processes.h"

namespace podium {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST_F(Checkpoint, OnlyTheNewestStay) {
  for (const std::int64_t step : {100, 200, 300, 400, 500}) save(step);
  EXPECT_THAT(checkpoints_in(path_), ElementsAre("step-00000500", "step-00000400", "step-00000300"));
}

// Broken ones of higher steps were kept as the newest, and the one just made whole was removed at once.
TEST_F(Checkpoint, WhatIsNewerThanTheOneJustMadeWholeIsSetAside) {
  for (const std::int64_t step : {800, 900, 1000}) save(step);
  for (const std::int64_t step : {900, 1000}) break_checkpoint(step);
  ASSERT_EQ(load(), 800);
  store_.emplace(CheckpointFolder(path_, true), 1, world_, kAlone.layout);
  save(820);
  EXPECT_THAT(checkpoints_in(path_), ElementsAre("step-00000820"));
  for (const std::int64_t step : {900, 1000})
    EXPECT_TRUE(fs::exists(path_ / (kAsidePrefix + checkpoint_name(step)))) << step;
  EXPECT_EQ(load(), 820);
  save(900);
  EXPECT_EQ(load(), 900);
}

TEST_F(Checkpoint, TheFirstOfARunThatBeganAnewStays) {
  save(1000);
  break_checkpoint(1000);
  spec_.checkpoint.begin_anew = true;
  ASSERT_EQ(load(), 0);
  store_.emplace(CheckpointFolder(path_, true), 1, world_, kAlone.layout);
  save(100);
  EXPECT_EQ(load(), 100);
  EXPECT_THAT(problems_, IsEmpty());
}

// Killed in the middle of removing an old checkpoint, a run must not leave one that looks whole: whoever
// looks at any moment finds all files of it or no checkpoint. Many files make the moment a long one.
TEST_F(Checkpoint, OneThatIsBeingRemovedIsNoCheckpointAnyMore) {
  constexpr int kFiles = 2000;
  store_.emplace(CheckpointFolder(path_, true), 1, world_, kAlone.layout);
  save(100);
  const fs::path old = path_ / "step-00000100";
  const auto name = [](int i) { return "z-" + std::to_string(i); };
  for (int i = 0; i < kFiles; ++i) write_all(open_file(old / name(i), O_WRONLY | O_CREAT).get(), "x", old);
  std::atomic<bool> torn{false}, done{false};
  std::jthread watcher([&] {
    while (!done)
      for (int i = 0; i < kFiles; i += 97)
        if (!fs::exists(old / name(i)) && fs::exists(old / kManifestName)) torn = true;
  });
  save(200);
  done = true;
  watcher.join();
  EXPECT_FALSE(torn);
  EXPECT_THAT(checkpoints_in(path_), ElementsAre("step-00000200"));
  EXPECT_EQ(std::distance(fs::directory_iterator(path_), fs::directory_iterator()), 2) << "and the lock";
}

TEST_F(Checkpoint, WhatDeadAttemptsLeftIsRemoved) {
  const fs::path half = path_ / ".saving-step-00000300-0123456789abcdef";
  fs::create_directories(half);
  write_file_atomic(half / part_name(0), "half");
  write_file_atomic(half / record_name(0), "{}");
  EXPECT_EQ(load(), 0);
  EXPECT_FALSE(fs::exists(half));
}

// A second process that opens the folder while a run holds it goes away, and leaves all of it alone.
TEST_F(Checkpoint, AFolderThatAnotherRunHoldsIsNeverWritten) {
  save(100);
  const fs::path half = path_ / ".saving-step-00000300-0123456789abcdef";
  fs::create_directories(half);
  ForkedProcesses other(1, [&](int) {
    SingleCommunicator alone;
    try {
      CheckpointStore second({path_, true}, 3, alone, kAlone.layout);
    } catch (const Failure& failure) {
      const bool named = std::string(failure.what()).find(path_.string()) != std::string::npos;
      return failure.exit == WorkerExit::address_in_use && named ? 7 : 8;
    }
    return 9;
  });
  EXPECT_EQ(other.wait(0), 7);
  EXPECT_TRUE(fs::exists(half));
  EXPECT_THAT(checkpoints_in(path_), ElementsAre("step-00000100"));
}

TEST_F(Checkpoint, AnAbandonedSaveIsNoCheckpoint) {
  for (int i = 0; i < 10; ++i) {
    store().begin_save(state_at(100 + i), trained_.tensors());
    store_.reset();
    for (const std::string& name : checkpoints_in(path_))  // it may have been quicker
      EXPECT_NO_THROW(read_manifest(path_ / name));
  }
}

TEST_F(Checkpoint, AFolderThatCannotBeMadeIsNamed) {
  write_file_atomic(folder_.path() / "file", "");
  try {
    CheckpointStore({folder_.path() / "file" / "checkpoints", true}, 3, world_, kAlone.layout);
    FAIL() << "made";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, WorkerExit::disk_full);
    EXPECT_THAT(failure.what(), HasSubstr((folder_.path() / "file").string()));
  }
}

// The limit on file sizes stands for a full disk: writing fails in the middle of a file, on another thread,
// and the next call says so.
TEST_F(Checkpoint, AFullDiskNamesTheFileAndKeepsTheOldCheckpoint) {
  save(100);
  store_.reset();
  ForkedProcesses child(1, [&](int) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &small);
    SingleCommunicator alone;
    CheckpointStore limited({path_, true}, 3, alone, kAlone.layout);
    limited.begin_save(state_at(200), trained_.tensors());
    for (int call = 0; call < 2; ++call) try {
        limited.finish();
        return 1;
      } catch (const Failure& failure) {
        if (failure.exit != WorkerExit::disk_full) return 2;
        if (std::string(failure.what()).find(part_name(0)) == std::string::npos) return 3;
      }
    return 7;
  });
  EXPECT_EQ(child.wait(0), 7);
  EXPECT_EQ(load(), 100);
  EXPECT_THAT(checkpoints_in(path_), ElementsAre("step-00000100"));
}

// The checkpoint was whole, but the run ended with 73 and nobody was told of it.
TEST_F(Checkpoint, OneThatIsWholeIsToldEvenWhereOldOnesCannotBeRemoved) {
  save(100);
  store_.reset();
  fs::remove(path_ / ".lock");
  fs::permissions(path_, fs::perms::all);
  fs::permissions(path_ / "step-00000100", fs::perms::owner_read | fs::perms::owner_exec |
                                               fs::perms::others_read | fs::perms::others_exec);
  ForkedProcesses child(1, [&](int) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return 1;  // who may remove nothing there
    SingleCommunicator alone;
    {
      CheckpointStore limited({path_, true}, 1, alone, kAlone.layout);
      limited.begin_save(state_at(200), trained_.tensors());
      if (limited.finish().size() != 1) return 2;
      const std::vector<std::string> warnings = limited.take_warnings();
      if (warnings.size() != 1 || warnings[0].find("step-00000100") == std::string::npos) return 3;
      limited.begin_save(state_at(300), trained_.tensors());
      if (limited.finish().size() != 1 || !limited.take_warnings().empty()) return 4;
    }
    CheckpointStore later({path_, true}, 1, alone, kAlone.layout);  // finds what is half removed
    return later.take_warnings().size() == 1 && later.take_warnings().empty() ? 7 : 5;
  });
  EXPECT_EQ(child.wait(0), 7);
  EXPECT_THAT(checkpoints_in(path_), ElementsAre("step-00000300"));
  EXPECT_EQ(load(), 300);
}

// Every broken one was kept for ever.
TEST_F(Checkpoint, OnlyThoseThatWereSetAsideLastStayAndThatIsSaid) {
  for (const std::int64_t step : {900, 800, 700, 600, 500}) save(step);
  EXPECT_THAT(aside(), UnorderedElementsAre("step-00000800", "step-00000700", "step-00000600"));
  EXPECT_THAT(store_->take_warnings(),
              testing::Each(AllOf(HasSubstr("delete that once you have looked at it"),
                                  HasSubstr("the 3 that were set aside last stay"))));
}

// Those of the highest steps stayed, so that it was deleted by the save that set it aside.
TEST_F(Checkpoint, OneThatIsSetAsideOutlivesThoseOfHigherStepsThatLieThereFromBefore) {
  const auto now = fs::file_time_type::clock::now();
  for (const std::int64_t step : {900, 1000, 1100, 100'000'000}) {
    const fs::path old = path_ / (kAsidePrefix + checkpoint_name(step));
    fs::create_directories(old);
    fs::last_write_time(old, now - std::chrono::hours(step == 1000 ? 2 : step == 900 ? 3 : 1));
  }
  save(500);
  save(400);
  EXPECT_THAT(aside(), UnorderedElementsAre("step-00000500", "step-00001100", "step-100000000"));
}

TEST_F(Checkpoint, AllThatAreSetAsideTogetherStay) {
  store_.emplace(CheckpointFolder(path_, true), 9, world_, kAlone.layout);
  for (const std::int64_t step : {600, 700, 800, 900}) save(step);
  save(100);
  EXPECT_THAT(aside(), testing::SizeIs(4));
  EXPECT_THAT(store_->take_warnings(), testing::SizeIs(4));
}

TEST_F(Checkpoint, ABrokenOneThatIsWrittenAgainIsNotSetAsideWithoutAWord) {
  save(100);
  save(200);
  break_checkpoint(200);
  ASSERT_EQ(load(), 100);
  save(200);
  EXPECT_THAT(store_->take_warnings(),
              ElementsAre(HasSubstr("the checkpoint step-00000200 was broken and is set aside as "
                                    ".set-aside-step-00000200")));
}

}  // namespace
}  // namespace podium
