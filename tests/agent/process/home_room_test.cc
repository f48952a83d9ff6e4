// What goes from a home when there is no room in it, and what is written nevertheless.
#include "agent/process/home_room.h"

#include <gmock/gmock.h>

#include "agent/process/fence_file.h"
#include "common/base/file.h"
#include "tests/small_disk.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMuch = std::int64_t{1} << 40;

TaskFolder forgotten_task(const fs::path& home, std::int64_t job, std::size_t bytes) {
  TaskRecord record;
  record.task = {{{job}, 1}, 0};
  record.forgotten = true;
  const TaskFolder folder(home, record.task);
  folder.create(record, {});
  fs::create_directories(folder.path() / "of its program");
  write_file_atomic(folder.path() / "of its program" / "output", std::string(bytes, 'x'));
  return folder;
}

// Keeps tasks of so many bytes, numbered from 1.
void keep_tasks(HomeRoom& room, int count, std::size_t bytes) {
  for (int job = 1; job <= count; ++job) {
    forgotten_task(room.home(), job, bytes);
    room.keep({{{job}, 1}, 0});
  }
}

std::vector<std::int64_t> jobs_in(const fs::path& home) {
  std::vector<fs::path> strange;
  std::vector<std::int64_t> jobs;
  for (const TaskId task : find_tasks(home, strange)) jobs.push_back(task.attempt.job.value);
  std::ranges::sort(jobs);
  return jobs;
}

TEST(KeptFolders, AreBoundedByNumber) {
  const TempFolder home;
  HomeRoom room(home.path(), kMuch);
  keep_tasks(room, 53, 1);
  EXPECT_EQ(jobs_in(home.path()).size(), 50u);
  EXPECT_EQ(jobs_in(home.path()).front(), 4);
}

// Fifty folders of two full logs each stayed, whatever the disk.
TEST(KeptFolders, AreBoundedByBytesOfAllTheyHold) {
  const TempFolder home;
  HomeRoom room(home.path(), 250'000);
  keep_tasks(room, 4, 100'000);
  EXPECT_EQ(jobs_in(home.path()), (std::vector<std::int64_t>{3, 4}));
}

class HomeOnASmallDisk : public testing::Test {
 protected:
  void SetUp() override {
    if (!disk_.is_mounted()) GTEST_SKIP() << "skipped: waits for the right to mount a file system";
  }

  fs::path home() const { return folder_.path() / "disk"; }

  TempFolder folder_;
  test::SmallDisk disk_{folder_.path() / "disk", "8m"};
};

TEST_F(HomeOnASmallDisk, FoldersGoWhileItIsShortOfRoom) {
  HomeRoom room(home(), kMuch);
  keep_tasks(room, 3, 1 << 20);
  room.look();
  EXPECT_EQ(jobs_in(home()).size(), 3u);
  disk_.fill(200'000);
  room.look();
  EXPECT_EQ(jobs_in(home()), (std::vector<std::int64_t>{2, 3})) << "the oldest first, and no more than must";
}

// All went at once, and the agent did nothing else until they were deleted.
TEST_F(HomeOnASmallDisk, ALookDeletesOneFolder) {
  HomeRoom room(home(), kMuch);
  keep_tasks(room, 3, 4096);
  disk_.fill();
  room.look();
  EXPECT_EQ(jobs_in(home()), (std::vector<std::int64_t>{2, 3}));
  room.look();
  EXPECT_EQ(jobs_in(home()), (std::vector<std::int64_t>{3}));
}

TEST_F(HomeOnASmallDisk, ARecordThatFindsNoRoomTakesThatOfTheOldestFolder) {
  HomeRoom room(home(), kMuch);
  keep_tasks(room, 2, 1 << 20);
  disk_.fill();
  room.make_room_for([&] { write_file_atomic(home() / "record", "text"); });
  EXPECT_EQ(read_file(home() / "record"), "text");
  EXPECT_EQ(jobs_in(home()), (std::vector<std::int64_t>{2}));
  EXPECT_THROW(room.make_room_for([] { throw std::system_error(EIO, std::generic_category()); }),
               std::system_error);
  EXPECT_EQ(jobs_in(home()), (std::vector<std::int64_t>{2})) << "room would not help";
}

// Tasks were never forgotten, and their folders never went.
TEST_F(HomeOnASmallDisk, AFenceIsRaisedThoughNothingElseCanGo) {
  HomeRoom room(home(), kMuch);
  Fences fences;
  raise_fence(room, fences, {{1}, 1});
  disk_.fill();
  raise_fence(room, fences, {{2}, 3});
  EXPECT_EQ(read_fences(home()), (Fences{{{1}, 1}, {{2}, 3}}));
  fs::remove(home() / "reserve");
  disk_.fill();
  EXPECT_THROW(raise_fence(room, fences, {{3}, 1}), std::system_error);
  EXPECT_EQ(read_fences(home()), fences) << "as if it had not been tried";
  disk_.clear();
  room.look();
  EXPECT_TRUE(fs::exists(home() / "reserve"));
  disk_.fill();
  raise_fence(room, fences, {{3}, 1});
  EXPECT_EQ(read_fences(home()), (Fences{{{1}, 1}, {{2}, 3}, {{3}, 1}}));
}

TEST_F(HomeOnASmallDisk, TheReserveIsRoomThatNobodyElseCanTake) {
  HomeRoom room(home(), kMuch);
  disk_.fill();
  EXPECT_TRUE(fs::exists(home() / "reserve"));
  const std::string text(200'000, 'x');
  room.write_file(home() / "record", text);
  EXPECT_EQ(read_file(home() / "record"), text);
}

}  // namespace
}  // namespace podium
