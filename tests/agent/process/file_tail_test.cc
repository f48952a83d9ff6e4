#include "agent/process/file_tail.h"

#include <gtest/gtest.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

TEST(ReadRange, ReadsWhatIsThere) {
  const TempFolder folder;
  const auto path = folder.path() / "stdout";
  EXPECT_EQ(read_range(path, 0, 10), "");
  write_file_atomic(path, "0123456789");
  EXPECT_EQ(read_range(path, 0, 4), "0123");
  EXPECT_EQ(read_range(path, 8, 4), "89");
  EXPECT_EQ(read_range(path, 10, 4), "");
  EXPECT_EQ(read_range(path, 99, 4), "");
}

TEST(ReadRange, NamesTheFileItCannotRead) {
  const TempFolder folder;
  try {
    read_range(folder.path(), 0, 4);  // a folder
    FAIL() << "no exception";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find(folder.path().string()), std::string::npos) << error.what();
  }
}

TEST(KeepWholeLines, HoldsBackTheUnfinishedOne) {
  std::string text = "one\ntwo\nthr";
  keep_whole_lines(text, 100);
  EXPECT_EQ(text, "one\ntwo\n");
  text = "thr";
  keep_whole_lines(text, 100);
  EXPECT_EQ(text, "");
}

TEST(KeepWholeLines, LetsALineLongerThanTheLimitPassInPieces) {
  std::string text = "0123456789";
  keep_whole_lines(text, 10);
  EXPECT_EQ(text, "0123456789");
}

}  // namespace
}  // namespace podium
