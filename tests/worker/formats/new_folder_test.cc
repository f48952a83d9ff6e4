#include "worker/formats/new_folder.h"

#include <gmock/gmock.h>

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
