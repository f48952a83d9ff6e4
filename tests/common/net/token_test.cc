#include "common/net/token.h"

#include <gtest/gtest.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

TEST(Token, ComparesWholeTokens) {
  EXPECT_TRUE(equal_in_constant_time("secret", "secret"));
  EXPECT_FALSE(equal_in_constant_time("secret", "secreT"));
  EXPECT_FALSE(equal_in_constant_time("secret", "secret "));
  EXPECT_FALSE(equal_in_constant_time("secret", ""));
}

TEST(Token, RandomHexIsLongEnoughAndDiffers) {
  const std::string token = random_hex(32);
  EXPECT_EQ(token.size(), 64u);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(token, random_hex(32));
}

TEST(Token, AFileHoldsItWithoutTheWhiteSpaceBehindIt) {
  const TempFolder folder;
  const auto read = [&](std::string_view content) {
    write_file_atomic(folder.path() / "token", content);
    return read_token(folder.path() / "token");
  };
  EXPECT_EQ(read("secret"), "secret");
  EXPECT_EQ(read("secret \t\r\n\n"), "secret");
  EXPECT_EQ(read(" two words\n"), " two words");
  EXPECT_EQ(read("\n"), "");
  EXPECT_THROW(read_token(folder.path() / "none"), std::system_error);
}

}  // namespace
}  // namespace podium
