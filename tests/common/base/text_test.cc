#include "common/base/text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace podium {
namespace {

TEST(CutText, KeepsWhatFits) {
  EXPECT_EQ(cut_text("abc", 3), "abc");
  EXPECT_EQ(cut_text("", 0), "");
}

TEST(CutText, EndsBetweenCharacters) {
  EXPECT_EQ(cut_text("abcd", 3), "abc…");
  EXPECT_EQ(cut_text("aé", 2), "a…");
  EXPECT_EQ(cut_text("é", 1), "…");
  const std::string text = "aé€😀b";  // characters of one to four bytes
  for (std::size_t most = 0; most <= text.size(); ++most)
    EXPECT_NO_THROW(nlohmann::json(cut_text(text, most)).dump()) << most;
}

}  // namespace
}  // namespace podium
