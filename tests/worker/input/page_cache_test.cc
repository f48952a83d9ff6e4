#include "worker/input/page_cache.h"

#include <gtest/gtest.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

TEST(PageCache, EveryFileMustBeOne) {
  const TempFolder folder;
  const auto a = folder.path() / "a", b = folder.path() / "b";
  write_file_atomic(a, "text");
  write_file_atomic(b, "text");
  EXPECT_TRUE(forget_cached({a, b}));
  EXPECT_TRUE(forget_cached({}));
  EXPECT_FALSE(forget_cached({folder.path() / "missing", b}));
  EXPECT_FALSE(forget_cached({a, folder.path()}));
  EXPECT_EQ(read_file(a), "text");
}

}  // namespace
}  // namespace podium
