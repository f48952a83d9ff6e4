#include "worker/input/utf8.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

TEST(Utf8, FindsTheFirstInvalidByte) {
  EXPECT_EQ(find_invalid_utf8("naïve 博"), std::string_view::npos);
  EXPECT_EQ(find_invalid_utf8("ab\xFF"), 2u);
  EXPECT_EQ(find_invalid_utf8("\xC3"), 0u);
  EXPECT_EQ(find_invalid_utf8("a\xED\xA0\x80"), 1u) << "a surrogate";
}

}  // namespace
}  // namespace podium
