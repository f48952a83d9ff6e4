#include "common/spec/json_body.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace podium {
namespace {

std::string said(std::string_view body) {
  const auto parsed = parse_object(body);
  return parsed ? "" : describe(parsed.errors());
}

TEST(Body, IsOneObject) {
  EXPECT_EQ(parse_object(R"({"a": {"x": 1}, "b": {"x": 2}})")->dump(), R"({"a":{"x":1},"b":{"x":2}})");
  EXPECT_EQ(said("[1]"), "the body must be a JSON object, not array");
  EXPECT_EQ(said("null"), "the body must be a JSON object, not null");
}

TEST(Body, SaysWhereItIsNoJson) {
  EXPECT_TRUE(said("{\n  \"a\": 1,\n}").starts_with("the body is no JSON: parse error at line 3, column 1"))
      << said("{\n  \"a\": 1,\n}");
  EXPECT_TRUE(said("").starts_with("the body is no JSON"));
  for (const char* wrong : {"{} {}", R"({"a": 1e999})", R"({"a": [-1e999]})", "{\"a\": \"\xff\"}"})
    EXPECT_TRUE(said(wrong).starts_with("the body is no JSON")) << wrong;
}

// Of two values of one key the parser keeps the last: whoever wrote the first was not told.
TEST(Body, HasEachKeyOnce) {
  EXPECT_EQ(said(R"({"a": 1, "b/1": {"c": 1, "c": 2}, "a": 2})"),
            "/b~11/c: is given more than once\n/a: is given more than once");
  EXPECT_EQ(said(R"({"a": [{"c": 1}, {"c": 2}]})"), "");
  EXPECT_EQ(said(R"({"a": [[], 7, {"c": 1}, {"x": [0], "c": 2, "c": 3}]})"),
            "/a/3/c: is given more than once");
}

TEST(Body, NestsLittle) {
  const auto nested = [](int depth) {
    return R"({"a":)" + std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']') + "}";
  };
  EXPECT_EQ(said(nested(63)), "");
  for (const int depth : {64, 1'000'000})
    EXPECT_EQ(said(nested(depth)), "the body has more than 64 lists and objects within each other");
}

TEST(Body, TakesWholeNumbersThatFit) {
  using nlohmann::json;
  EXPECT_EQ(whole_number(json::parse("9223372036854775807"), 0), INT64_MAX);
  for (const char* wrong :
       {"9223372036854775808", "18446744073709551615", "-1", "1.0", "\"1\"", "null", "1e3"})
    EXPECT_EQ(whole_number(json::parse(wrong), 0), std::nullopt) << wrong;
}

TEST(Body, NamesKeysThatAreMissingOrUnknown) {
  const nlohmann::json body{{"operatoin", 1}};
  Errors errors;
  need(body, "operation", "one of cancel, hold", errors);
  refuse_unknown(body, {"operation"}, errors);
  EXPECT_EQ(
      describe(errors),
      "/operation: is missing: one of cancel, hold\n/operatoin: is not known; did you mean \"operation\"?");
}

// A megabyte of small objects took minutes, for the parser looked at all that a list had at each of its ends.
TEST(Body, OfManyObjectsIsReadAtOnce) {
  std::string text = R"({"a":[{})";
  for (int i = 0; i < 1'000'000; ++i) text += ",{}";
  EXPECT_EQ(parse_object(text + "]}")->at("a").size(), 1'000'001u);
}

TEST(Body, TellsShortlyWhatIsLong) {
  const std::string large(1'000'000, 'k');
  for (const std::string& body :
       {"{\"" + large, R"({"a": ")" + large, R"({")" + large + R"(": 1, ")" + large + R"(": 2})"}) {
    const Errors errors = parse_object(body).errors();
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_LT(describe(errors).size(), 1000u);
  }
  Errors errors;
  refuse_unknown({{large, 1}}, {"a"}, errors);
  EXPECT_LT(describe(errors).size(), 1000u);
}

// Who asks does not decide how large the answer is.
TEST(Body, TellsSoManyMistakesAndNotMore) {
  std::string twice = "{";
  nlohmann::json unknown;
  for (int i = 0; i < 1000; ++i) {
    twice += (i > 0 ? "," : "") + fmt::format(R"("k{}": 1, "k{}": 2)", i, i);
    unknown[fmt::format("k{}", i)] = i;
  }
  EXPECT_EQ(parse_object(twice + "}").errors().size(), kMostMistakes + 1);
  Errors errors;
  refuse_unknown(unknown, {"operation"}, errors, "/specs/0");
  EXPECT_EQ(errors.size(), kMostMistakes + 1);
  EXPECT_EQ(describe({errors.front(), errors.back()}),
            "/specs/0/k0: is not known; known here: operation\nthere are more mistakes than these");
}

}  // namespace
}  // namespace podium
