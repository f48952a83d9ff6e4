#include "common/console/console_pattern.h"

#include <gmock/gmock.h>

#include "tests/common/console/values_of.h"

namespace podium {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

ConsolePattern pattern(const std::string& expression) {
  auto compiled = ConsolePattern::compile(expression);
  EXPECT_TRUE(compiled.ok()) << describe(compiled.errors());
  return std::move(compiled).value();
}

std::string mistake(const std::string& expression) {
  const auto compiled = ConsolePattern::compile(expression);
  return compiled ? "" : compiled.errors().front().message;
}

TEST(ConsolePattern, NamesMetricsAndTheStep) {
  const ConsoleLine line =
      pattern(R"(step (?P<step>[0-9,]+): loss=(?P<loss>\S+) acc=(?P<eval__accuracy>[0-9.]+))")
          .match("12:00 step 1,200: loss=2.5e-1 acc=0.75 (best)");
  EXPECT_EQ(line.step, 1200);
  EXPECT_THAT(values_of(line), UnorderedElementsAre(Pair("loss", 0.25), Pair("eval/accuracy", 0.75)));
}

TEST(ConsolePattern, TellsNothingOfAGroupThatHoldsNoNumber) {
  const ConsolePattern either = pattern(R"(loss=(?P<loss>\S+)|acc=(?P<acc>\S+))");
  EXPECT_THAT(values_of(either.match("acc=0.5")), UnorderedElementsAre(Pair("acc", 0.5)));
  EXPECT_TRUE(either.match("loss=high").empty());
  EXPECT_TRUE(either.match("nothing").empty());
  const ConsolePattern steps = pattern(R"(s(?P<step>\S+) (?P<loss>\S+))");
  EXPECT_EQ(steps.match("s8 2").step, 8);
  for (const std::string line : {"s-5 2", "s9.5 2", "s99999999999999999999 2"})
    EXPECT_TRUE(steps.match(line).empty()) << line << " has values of no step";
}

TEST(ConsolePattern, MatchesLinesThatAreNoText) {
  EXPECT_THAT(values_of(pattern("é.*=(?P<x>[0-9]+)").match("\xff\xc3\xa9\xfe\x80=7")),
              UnorderedElementsAre(Pair("x", 7)));
}

TEST(ConsolePattern, SaysWhatIsWrong) {
  EXPECT_THAT(mistake("loss=(?P<loss>[0-9"), HasSubstr("missing ]: [0-9"));
  EXPECT_THAT(mistake(R"((?P<a>x)\1)"), HasSubstr(R"(invalid escape sequence: \1)"));
  EXPECT_THAT(mistake("loss=([0-9.]+)"), HasSubstr("names no metric; write (?P<loss>"));
  EXPECT_THAT(mistake(std::string(1001, 'a')), HasSubstr("has more than 1000 bytes"));
  EXPECT_THAT(mistake("(?P<a>((x{100}){100}){100})"), HasSubstr("RE2"));
  EXPECT_THAT(mistake("(?<loss>[0-9]+)"), HasSubstr("a named group reads (?P<loss>"));
  EXPECT_THAT(mistake("(?P<a__>[0-9]+)"), HasSubstr("begins or ends with __"));
  EXPECT_THAT(mistake("((a|b){0,400})(?P<l>[ab])"), HasSubstr("is too large"));
}

// An expression that takes a search with backtracking longer than the age of the universe.
TEST(ConsolePattern, TakesTimeByTheLineAlone) {
  EXPECT_TRUE(pattern("(?P<x>(a*)*)b").match(std::string(16 << 10, 'a')).empty());
}

}  // namespace
}  // namespace podium
