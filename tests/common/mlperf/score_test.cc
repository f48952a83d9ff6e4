#include "common/mlperf/score.h"

#include <gtest/gtest.h>

#include "tests/common/mlperf/real_logs.h"

namespace podium::mlperf {
namespace {

using Runs = std::vector<Run>;

Run run(double seconds, bool converged = true) {
  return {"run", {Benchmark::gpt3, Division::closed, "ACME", "anvil", 2048, 8}, seconds, converged};
}

Score only_score(Runs runs) {
  const auto scores = scores_of(std::move(runs));
  EXPECT_EQ(scores.size(), 1u);
  return scores.at(0);
}

TEST(MlperfScore, LeavesOutTheFastestAndTheSlowest) {
  const Score score = only_score({run(100), run(10), run(31)});
  EXPECT_EQ(score.seconds, 31);
  EXPECT_TRUE(score.reasons.empty());
  EXPECT_EQ(score.runs[0].seconds, 10);
  EXPECT_FALSE(score.is_counted(0));
  EXPECT_TRUE(score.is_counted(1));
  EXPECT_FALSE(score.is_counted(2));
}

TEST(MlperfScore, OneRunThatDoesNotConvergeIsTheSlowest) {
  const Score score = only_score({run(1, false), run(10), run(31)});
  EXPECT_EQ(score.seconds, 31);
  EXPECT_TRUE(score.reasons.empty());
  EXPECT_FALSE(score.runs[2].converged);
}

TEST(MlperfScore, TwoMakeItInvalid) {
  const Score score = only_score({run(1, false), run(10), run(31, false)});
  EXPECT_EQ(score.seconds, std::nullopt);
  EXPECT_EQ(score.reasons, std::vector<std::string>{"2 runs did not converge, and one may at most"});
}

TEST(MlperfScore, TheNumberOfRunsIsGiven) {
  EXPECT_EQ(only_score({run(1), run(2)}).seconds, std::nullopt);
  EXPECT_EQ(only_score({run(1), run(2)}).reasons,
            std::vector<std::string>{"a result of gpt3 takes 3 runs, and this has 2"});
  EXPECT_EQ(only_score({run(1), run(2), run(3), run(4)}).seconds, 2.5);
  EXPECT_EQ(only_score({run(1), run(2), run(3), run(4)}).reasons.size(), 1u);
  Runs runs;
  for (int i = 0; i < 10; ++i) {
    runs.push_back(run(i));
    runs.back().of.benchmark = Benchmark::bert;
  }
  EXPECT_EQ(only_score(runs).seconds, 4.5);
  EXPECT_TRUE(only_score(runs).reasons.empty());
}

TEST(MlperfScore, WhatBreaksOtherRulesIsNoResult) {
  auto broken = run(10);
  broken.findings = {{7, "order", ""}, {9, "init-time", ""}, {12, "order", ""}};
  const Score score = only_score({broken, run(20), run(31)});
  EXPECT_EQ(score.seconds, 20);
  EXPECT_EQ(score.reasons, std::vector<std::string>{"run breaks rules of the round: init-time, order"});
}

TEST(MlperfScore, RunsOfAnotherKindAreApart) {
  auto other = run(5);
  other.of.global_batch = 4096;
  EXPECT_EQ(scores_of({run(1), other, run(2)}).size(), 2u);
}

TEST(MlperfScore, ThePublishedLogsComeToThePublishedTimes) {
  const auto logs = test::real_logs();
  if (logs.empty()) GTEST_SKIP() << "skipped: no shared data";
  Runs runs;
  for (const test::RealLog& log : logs) {
    const auto each = run_of(read_log(log.text), log.name, log.round);
    ASSERT_TRUE(each.ok()) << describe(each.errors());
    EXPECT_TRUE(each->converged);
    EXPECT_TRUE(each->findings.empty());
    runs.push_back(*each);
  }
  // run_stop - run_start of the files: 1652765732474 - 1652753438541, and so on.
  EXPECT_DOUBLE_EQ(runs[0].seconds, 12293.933);
  EXPECT_EQ(runs[0].of.devices, 2);
  EXPECT_EQ(runs[5].of.devices, 512);
  EXPECT_DOUBLE_EQ(runs[5].quality, 2.6890993118286133);
  EXPECT_EQ(runs[5].samples, 1207959552);
  // Of the three runs on a DGX A100 1125.109 s is neither the fastest nor the slowest.
  bool found = false;
  for (const Score& score : scores_of(runs))
    if (score.runs.size() == 3) {
      found = true;
      EXPECT_DOUBLE_EQ(score.seconds.value(), 1125.109);
      EXPECT_EQ(score.reasons, std::vector<std::string>{"a result of bert takes 10 runs, and this has 3"});
    }
  EXPECT_TRUE(found);
}

TEST(MlperfScore, ALogWithoutItsEndsIsNoRun) {
  const auto logs = test::real_logs();
  if (logs.empty()) GTEST_SKIP() << "skipped: no shared data";
  test::Lines lines(logs[0].text);
  lines.erase_all("run_stop");
  lines.repeat(lines.first("run_start"));
  const auto none = run_of(read_log(lines.text()), "log.txt", logs[0].round);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(describe(none.errors()),
            "log.txt: there is more than one run_start, so the log has no time to train\n"
            "log.txt: there is no run_stop, so the log has no time to train");
  test::Lines failed(logs[0].text);
  failed.change(failed.first("run_stop"),
                [](nlohmann::json& line) { line["metadata"]["status"] = "aborted"; });
  failed.erase_all("cache_clear");
  const auto run = run_of(read_log(failed.text()), "log.txt", logs[0].round);
  EXPECT_FALSE(run->converged);
  ASSERT_EQ(run->findings.size(), 1u);  // the status is not one of them
  EXPECT_EQ(run->findings[0].rule, "cache_clear/some");
}

}  // namespace
}  // namespace podium::mlperf
