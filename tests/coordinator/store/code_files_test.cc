#include "coordinator/store/code_files.h"

#include <gtest/gtest.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

class CodeFiles : public testing::Test {
 protected:
  // So many bytes under a name, used so long after the first.
  bool keep(const std::string& name, std::size_t bytes, int hours) {
    const bool kept = keep_code(folder(), name, std::string(bytes, 'x'), [&] { return in_use_; }, 100);
    if (kept) fs::last_write_time(folder() / name, begin_ + std::chrono::hours(hours));
    return kept;
  }
  fs::path folder() const { return temp_.path() / "code"; }

  TempFolder temp_;
  fs::file_time_type begin_ = fs::file_time_type::clock::now() - std::chrono::hours(100);
  std::set<std::string> in_use_;
};

TEST_F(CodeFiles, TheLongestUnusedGoesFirstAndWhatLivingJobsNeedStays) {
  in_use_ = {"a"};
  EXPECT_TRUE(keep("a", 40, 1));
  EXPECT_TRUE(keep("b", 30, 2));
  EXPECT_TRUE(keep("c", 30, 3));
  EXPECT_TRUE(keep("d", 20, 4));
  EXPECT_TRUE(has_code(folder(), "a"));
  EXPECT_FALSE(has_code(folder(), "b"));
  EXPECT_TRUE(has_code(folder(), "c") && has_code(folder(), "d"));
}

TEST_F(CodeFiles, WithoutRoomBesideLivingJobsNothingIsKept) {
  in_use_ = {"a", "b"};
  EXPECT_TRUE(keep("a", 50, 1));
  EXPECT_TRUE(keep("b", 50, 2));
  EXPECT_FALSE(keep("c", 10, 3));
  EXPECT_TRUE(keep("a", 50, 4)) << "which is there already";
}

}  // namespace
}  // namespace podium
