// Points in CSV and JSON Lines: what other programs write, every kind of mistake with its line, and that what
// is written reads back.
#include "cli/curves/text_curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "cli/curves/csv.h"

namespace podium::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Read {
  std::vector<std::string> points;  // "run|metric|step|time|value"
  std::string problems;
};

using Reader = Errors (*)(std::istream&, const TextCurves&, const TakePoint&);

Read read_by(Reader reader, const std::string& text, const std::string& wanted = "") {
  Read read;
  std::istringstream stream(text);
  const TextCurves curves{"f", "own", 7,
                          [&](const std::string& metric) { return wanted.empty() || metric == wanted; }};
  read.problems = describe(reader(stream, curves, [&](const TaggedPoint& tagged) {
    std::ostringstream point;
    point << tagged.run << '|' << tagged.metric << '|' << tagged.point.step << '|' << tagged.point.time_ms
          << '|' << tagged.point.value;
    read.points.push_back(point.str());
  }));
  return read;
}

Read csv(const std::string& text, const std::string& wanted = "") { return read_by(read_csv, text, wanted); }
Read lines(const std::string& text) { return read_by(read_json_lines, text); }

TEST(Csv, ReadsLongFilesInAnyOrderOfColumns) {
  EXPECT_THAT(csv("value,metric,run,note,step,time_ms\r\n0.5,loss,a,x,1,1700000000000\r\nNaN,\"l,"
                  "\"\"2\"\"\nx\",b,,2,\r\n")
                  .points,
              ElementsAre("a|loss|1|1700000000000|0.5", "b|l,\"2\"\nx|2|7|nan"));
}

TEST(Csv, ReadsWideFilesAndTensorBoardsOwn) {
  EXPECT_THAT(csv("\xef\xbb\xbfstep,time,loss,acc\n1,10,0.5,\n\n2,11,,0.25\n").points,
              ElementsAre("|loss|1|10000|0.5", "|acc|2|11000|0.25"));
  EXPECT_THAT(csv("Wall time,Step,Value\n1700000000.5,100,0.25\n").points,
              ElementsAre("|own|100|1700000000500|0.25"));
  EXPECT_THAT(csv("step,state,loss\n1,ready,2\n", "loss").points, ElementsAre("|loss|1|7|2"))
      << "what is not wanted may be anything";
}

TEST(Csv, TellsEveryMistakeWithItsLine) {
  const Read read = csv("metric,step,value\nloss,1,x\nloss,,1\nloss,1.5,1\nloss,1\n,1,1\nloss,5,1\n");
  EXPECT_THAT(read.problems, HasSubstr("f:2: loss is \"x\", which is no number"));
  EXPECT_THAT(read.problems, HasSubstr("f:3: has no step"));
  EXPECT_THAT(read.problems, HasSubstr("f:4: step is \"1.5\", which is no whole number"));
  EXPECT_THAT(read.problems, HasSubstr("f:5: has 2 fields; the first line has 3"));
  EXPECT_THAT(read.problems, HasSubstr("f:6: names no metric"));
  EXPECT_THAT(read.points, ElementsAre("|loss|5|7|1"));
  EXPECT_THAT(csv("step,time,loss\n1,later,2\n").problems,
              HasSubstr("f:2: time is \"later\", which is no time"));
  EXPECT_THAT(csv("step,time_ms,loss\n1,1.5,2\n1,-1,2\n1,10,2\n").problems,
              HasSubstr("f:2: time_ms is \"1.5\", which is no whole number of milliseconds"));
  EXPECT_THAT(csv("step,time_ms,loss\n1,10,2\n").points, ElementsAre("|loss|1|10|2"));
  EXPECT_THAT(csv("").problems, HasSubstr("f:1: the file is empty"));
  EXPECT_THAT(csv("loss,acc\n1,2\n").problems, HasSubstr("f:1: no column is named step"));
  EXPECT_THAT(csv("step,loss\n1,\"2\n\n3,4\n").problems, HasSubstr("f:2: a quote that is not closed"));
}

TEST(Csv, LinesAreCountedThroughQuotedLineEnds) {
  EXPECT_THAT(csv("step,loss\n1,\"2\n\"\n\n2,x\n").problems, HasSubstr("f:5: loss is \"x\""));
}

TEST(Csv, RefusesEndlessRecordsAndEndlesslyManyMistakes) {
  const std::string endless(kLongestLine + 2, 'x');
  EXPECT_THAT(csv("step,loss\n1," + endless).problems, HasSubstr("f:2: a row of more than 1 MiB"));
  EXPECT_THAT(csv("step,loss\n1,\"" + endless).problems, HasSubstr("f:2: a row of more than 1 MiB"));
  std::string wrong = "step,loss\n";
  for (int i = 0; i < 1000; ++i) wrong += "1,x\n";
  const std::string problems = csv(wrong).problems;
  EXPECT_EQ(std::ranges::count(problems, ':'), 40) << "20 lines of f:N:";
}

TEST(JsonLines, ReadsLongAndWideLinesAndPodiumsOwnEvents) {
  EXPECT_THAT(lines(R"({"run":"a","metric":"loss","step":1,"time_ms":1700000000000,"value":0.5,"note":3}

{"step":"2","timestamp":10,"loss":"-Infinity","acc":0.25,"who":"me","ok":true,"deep":{"x":1}}
{"type":"metrics","t":1700000000250,"step":3,"values":{"loss":2,"acc":"NaN"}}
)")
                  .points,
              ElementsAre("a|loss|1|1700000000000|0.5", "|acc|2|10000|0.25", "|loss|2|10000|-inf",
                          "|acc|3|1700000000250|nan", "|loss|3|1700000000250|2"));
}

TEST(JsonLines, TellsEveryMistakeWithItsLine) {
  const Read read =
      lines("{\"step\":1,\"a\":1}\nnonsense\n[1]\n{\"a\":1}\n{\"step\":1,\"metric\":\"a\",\"value\":null}\n");
  EXPECT_THAT(read.points, ElementsAre("|a|1|7|1"));
  EXPECT_THAT(read.problems, HasSubstr("f:2: is no JSON object"));
  EXPECT_THAT(read.problems, HasSubstr("f:3: is no JSON object"));
  EXPECT_THAT(read.problems, HasSubstr("f:4: has no step"));
  EXPECT_THAT(read.problems, HasSubstr("f:5: a is \"null\", which is no number"));
  EXPECT_THAT(lines(std::string(kLongestLine + 2, ' ')).problems,
              HasSubstr("f:1: a line of more than 1 MiB"));
  EXPECT_THAT(lines("{\"step\":1,\"metric\":\"a\",\"value\":[1]}").problems,
              HasSubstr("f:1: a is \"[…]\", which is no number"));
  const std::string nested = std::string(300'000, '[') + std::string(300'000, ']');
  EXPECT_THAT(lines("{\"step\":1,\"metric\":\"a\",\"value\":" + nested + "}").problems,
              HasSubstr("f:1: a is \"[…]\""));
  EXPECT_THAT(lines(std::string("{\"step\":1,\"a\":2}\0garbage\n", 25)).problems,
              HasSubstr("f:1: is no JSON object"));
  EXPECT_THAT(lines("{\"step\":1,\"a\":2}").points, ElementsAre("|a|1|7|2"))
      << "the last line may lack its end";
  EXPECT_THAT(lines(std::string(100'000, '[')).problems, HasSubstr("f:1: is no JSON object"));
}

TEST(TextCurves, WhatIsWrittenReadsBack) {
  const std::string run = "a \"b\", c", metric = "train/loss";
  std::string as_csv = csv_head(), as_json;
  for (const double value : {0.1, -1e300, std::nan(""), -HUGE_VAL}) {
    as_csv += csv_line(run, 12, metric, {-3, 1700000000250, value});
    as_json += json_line(run, 12, metric, {-3, 1700000000250, value});
  }
  const std::string head = run + "|" + metric + "|-3|1700000000250|";
  const auto all = ElementsAre(head + "0.1", head + "-1e+300", head + "nan", head + "-inf");
  EXPECT_THAT(csv(as_csv).points, all);
  EXPECT_THAT(lines(as_json).points, all);
}

}  // namespace
}  // namespace podium::cli
