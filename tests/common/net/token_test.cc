#include "common/net/token.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace podium
