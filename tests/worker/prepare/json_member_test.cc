#include "worker/prepare/json_member.h"

#include <gmock/gmock.h>

namespace podium {
namespace {

using testing::HasSubstr;

TEST(JsonMember, IsThatOfTheOutermostObject) {
  EXPECT_EQ(
      find_json_member(R"({"a": {"text": "in"}, "text": "out\n\u00e9", "b": [1, {"text": "x"}]})", "text")
          .text,
      "out\né");
  EXPECT_EQ(find_json_member(R"({"text": "one", "text": "two"})", "text").text, "two");
  EXPECT_EQ(find_json_member(R"( {"": "empty name"} )", "").text, "empty name");
  for (const char* without :
       {R"({})", R"({"text": 7})", R"({"text": null})", R"({"text": ["a"]})", R"({"text": {"text": "a"}})",
        R"({"text": "a", "text": 1})", R"({"Text": "a"})"}) {
    const JsonMember member = find_json_member(without, "text");
    EXPECT_EQ(member.text, std::nullopt) << without;
    EXPECT_EQ(member.malformed, "") << without;
  }
}

TEST(JsonMember, WhatIsNoObjectIsMalformed) {
  for (const char* line :
       {"", "x", "[]", "7", "\"text\"", "null", R"({"text": "a")", R"({"text": "a"} {})",
        R"({"text": "\ud800"})", R"({"n": 1e999})", "{\"text\": \"a\xFF\"}", R"([{"text": "a"}])"})
    EXPECT_NE(find_json_member(line, "text").malformed, "") << line;
  EXPECT_THAT(find_json_member(std::string(100'000, '['), "text").malformed, HasSubstr("no JSON object"));
  EXPECT_THAT(find_json_member("{\"a\":" + std::string(100'000, '['), "text").malformed,
              HasSubstr("64 levels"));
}

}  // namespace
}  // namespace podium
