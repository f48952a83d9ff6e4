#include "common/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <system_error>

#include "tests/temp_folder.h"

namespace podium {
namespace {

TEST(WriteFileAtomic, ReplacesWholeFilesAndLeavesNothingBehind) {
  const TempFolder folder;
  const auto path = folder.path() / "state.json";
  write_file_atomic(path, "old");
  write_file_atomic(path, "new", 0600);
  EXPECT_EQ(read_file(path), "new");
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteFileAtomic, TakesTwoThreadsWithOneFile) {
  const TempFolder folder;
  const std::string path = folder.path() / "state.json";
  const auto write = [&](char letter) {
    for (int i = 0; i < 200; ++i) write_file_atomic(path, std::string(10'000, letter));
  };
  std::future<void> other = std::async(std::launch::async, write, 'a');
  write('b');
  other.get();
  const std::string content = read_file(path);
  EXPECT_EQ(content, std::string(10'000, content.front()));
}

TEST(WriteFileAtomic, NamesTheFileItCannotWrite) {
  try {
    write_file_atomic("/nonexistent/state.json", "x");
    FAIL() << "wrote into a folder that does not exist";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent/state.json"), std::string::npos) << error.what();
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
  }
}

TEST(WriteAll, ReportsAFullDisk) {
  const Fd full = open_file("/dev/full", O_WRONLY);
  try {
    write_all(full.get(), "x", "/dev/full");
    FAIL() << "a full disk took the bytes";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_space_on_device);
  }
}

TEST(ReadFile, ReadsFilesThatReportNoSize) { EXPECT_FALSE(read_file("/proc/self/stat").empty()); }

TEST(IsInside, SeesThroughDotsAndLinks) {
  const TempFolder folder;
  std::filesystem::create_directory(folder.path() / "root");
  std::filesystem::create_symlink("/etc", folder.path() / "root" / "link");
  const auto root = folder.path() / "root";
  EXPECT_TRUE(is_inside(root, root / "a/b"));
  EXPECT_TRUE(is_inside(root, root / "a/../b"));
  EXPECT_FALSE(is_inside(root, root / "../b"));
  EXPECT_FALSE(is_inside(root, folder.path() / "rooted"));
  EXPECT_FALSE(is_inside(root, root / "link/passwd"));
}

TEST(Fd, ClosesOnceAndMoves) {
  Fd first = open_file("/dev/null", O_RDONLY);
  const int raw = first.get();
  Fd second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_EQ(second.get(), raw);
  second = Fd();
  EXPECT_EQ(::fcntl(raw, F_GETFD), -1);
}

}  // namespace
}  // namespace podium
