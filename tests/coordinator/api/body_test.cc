#include "coordinator/api/body.h"

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
  EXPECT_TRUE(said("{} {}").starts_with("the body is no JSON"));
}

// Of two values of one key the parser keeps the last: whoever wrote the first was not told.
TEST(Body, HasEachKeyOnce) {
  EXPECT_EQ(said(R"({"a": 1, "b": {"c": 1, "c": 2}, "a": 2})"),
            "the key \"c\" is given more than once in one object\n"
            "the key \"a\" is given more than once in one object");
  EXPECT_EQ(said(R"({"a": [{"c": 1}, {"c": 2}]})"), "");
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
  need(body, "operation", "what is to be done?", errors);
  refuse_unknown(body, {"operation"}, errors);
  EXPECT_EQ(
      describe(errors),
      "/operation: is missing: what is to be done?\n/operatoin: is not known; did you mean \"operation\"?");
}

}  // namespace
}  // namespace podium
