#include "worker/tokenizer/added_tokens.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

// The text with each token as "<id:bytes>".
std::string split(const std::vector<AddedToken>& tokens, std::string_view text) {
  std::string marked;
  AddedTokens(tokens).split(
      text, [&](std::size_t begin, std::size_t end) { marked += text.substr(begin, end - begin); },
      [&](std::size_t begin, std::size_t end, std::int32_t id) {
        marked += "<" + std::to_string(id) + ":" + std::string(text.substr(begin, end - begin)) + ">";
      });
  return marked;
}

TEST(AddedTokens, TheLeftmostCountsAndOfThoseTheLongest) {
  const std::vector<AddedToken> tokens{
      {.content = "ab", .id = 1}, {.content = "abc", .id = 2}, {.content = "bcd", .id = 3}};
  EXPECT_EQ(split(tokens, "xabcd ab bcd"), "x<2:abc>d <1:ab> <3:bcd>");
  EXPECT_EQ(split(tokens, ""), "");
  EXPECT_EQ(split({}, "ab"), "ab");
  EXPECT_EQ(split({{.content = "", .id = 1}, {.content = "a", .id = 2}, {.content = "a", .id = 3}}, "ba"),
            "b<2:a>");
}

TEST(AddedTokens, StripTakesWhiteSpaceIn) {
  EXPECT_EQ(split({{.content = "<m>", .id = 1, .lstrip = true}}, "a \u2003<m> b"), "a<1: \u2003<m>> b");
  EXPECT_EQ(split({{.content = "<m>", .id = 1, .rstrip = true}}, "a <m> \tb"), "a <1:<m> \t>b");
  EXPECT_EQ(split({{.content = "<m>", .id = 1, .lstrip = true, .rstrip = true}}, "<m> <m>"),
            "<1:<m> ><1:<m>>");
}

TEST(AddedTokens, ASingleWordIsNoPartOfOne) {
  const std::vector<AddedToken> tokens{{.content = "<m>", .id = 1, .single_word = true}};
  EXPECT_EQ(split(tokens, "<m> a<m> <m>b -<m>, \u0330<m> <m>"),
            "<1:<m>> a<m> <m>b -<1:<m>>, \u0330<m> <1:<m>>");
}

}  // namespace
}  // namespace podium
