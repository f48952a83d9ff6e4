#include "worker/formats/new_folder.h"

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "worker/data/failure.h"
#include "worker/input/bad_data.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST(NewFolder, IsThereWithAllItsFilesOrNotAtAll) {
  const TempFolder place;
  const fs::path wanted = place.path() / "a" / "model";
  {
    const NewFolder folder(wanted);
    write_file_atomic(folder.unfinished() / "half", "");
  }
  EXPECT_EQ(entries(place.path() / "a"), 0);
  NewFolder folder(wanted.string() + "/");
  write_file_atomic(folder.unfinished() / "whole", "");
  EXPECT_FALSE(fs::exists(wanted));
  folder.finish();
  EXPECT_TRUE(fs::exists(wanted / "whole"));
  EXPECT_EQ(entries(place.path() / "a"), 1);
}

// Nothing can be renamed onto it, which would show when all is done.
TEST(NewFolder, AnEmptyMountIsRefusedBeforeTheWork) {
  const TempFolder place;
  const fs::path mounted = place.path() / "mounted";
  fs::create_directories(mounted);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool may = ::unshare(CLONE_NEWNS) == 0 &&
                     ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                     ::mount("none", mounted.c_str(), "tmpfs", 0, nullptr) == 0;
    if (!may) ::_exit(2);
    try {
      const NewFolder folder(mounted);
    } catch (const BadData& error) {
      ::_exit(std::string_view(error.what()).find("is the root of a file system") == std::string_view::npos);
    }
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "skipped: waits for the right to mount a file system";
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_NO_THROW(NewFolder{mounted}) << "without the mount";
}

TEST(NewFolder, TakesThePlaceOfAnEmptyFolderAndOfWhatAKilledProgramLeft) {
  const TempFolder place;
  fs::create_directories(place.path() / "model");
  fs::create_directories(place.path() / ".model.unfinished");
  write_file_atomic(place.path() / ".model.unfinished" / "stale", "");
  NewFolder folder(place.path() / "model");
  folder.finish();
  EXPECT_EQ(entries(place.path() / "model"), 0);
  EXPECT_EQ(entries(place.path()), 1);
}

TEST(NewFolder, IsMadeByOneProgramAtATime) {
  const TempFolder place;
  NewFolder folder(place.path() / "model");
  write_file_atomic(folder.unfinished() / "kept", "");
  EXPECT_THROW(NewFolder(place.path() / "model"), BadData);
  folder.finish();
  EXPECT_TRUE(fs::exists(place.path() / "model" / "kept"));
}

TEST(NewFolder, ALinkIsFollowed) {
  const TempFolder place;
  fs::create_directories(place.path() / "real" / "model");
  fs::create_directory_symlink(place.path() / "real" / "model", place.path() / "link");
  NewFolder folder(place.path() / "link");
  write_file_atomic(folder.unfinished() / "whole", "");
  folder.finish();
  EXPECT_TRUE(fs::exists(place.path() / "real" / "model" / "whole"));
}

TEST(NewFolder, RefusesWhatIsThereAndWhereNothingCanBeMade) {
  const TempFolder place;
  write_file_atomic(place.path() / "file", "");
  EXPECT_THROW(NewFolder(place.path()), BadData);
  EXPECT_THROW(NewFolder(place.path() / "file"), BadData);
  try {
    NewFolder(place.path() / "file" / "model");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, WorkerExit::disk_full);
    EXPECT_THAT(failure.what(), testing::HasSubstr((place.path() / "file" / "model").string()));
  }
}

}  // namespace
}  // namespace podium
