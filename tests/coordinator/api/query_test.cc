#include "coordinator/api/query.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

TEST(Query, ReadsTypedFieldsAndDefaults) {
  Query query({{"limit", "5"}, {"name", "bert"}, {"key", "a"}, {"key", "b"}});
  EXPECT_EQ(query.integer_or("limit", 100, 1, 1000), 5);
  EXPECT_EQ(query.integer_or("points", 1000, 1, 2000), 1000);
  EXPECT_EQ(query.text("name"), "bert");
  EXPECT_EQ(query.text("order"), std::nullopt);
  EXPECT_EQ(query.all("key"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(query.problems().empty());
}

TEST(Query, CollectsEveryMistake) {
  Query query({{"limit", "0"}, {"name", "a"}, {"name", "b"}, {"typo", "x"}});
  query.integer("limit", 1, 1000);
  query.text("name");
  const Errors problems = query.problems();
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0].where, "limit");
  EXPECT_EQ(problems[1].where, "name");
  EXPECT_EQ(problems[2].message, "unknown query parameter \"typo\"");
}

TEST(ParseInteger, TakesWholeNumbersOnly) {
  EXPECT_EQ(parse_integer("12"), 12);
  EXPECT_EQ(parse_integer("-3"), -3);
  EXPECT_EQ(parse_integer("9223372036854775807"), INT64_MAX);
  for (const char* text : {"", " 1", "1 ", "1.0", "0x1", "9223372036854775808", "+1", "one"})
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
}

}  // namespace
}  // namespace podium
