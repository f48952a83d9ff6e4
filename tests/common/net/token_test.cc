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

// RFC 4231, test cases 1 and 6.
TEST(Token, MakesMacsAsPublished) {
  EXPECT_EQ(hmac_sha256(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
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
