// podium retention: what is asked, and what is said of it; what damage took of curves.
#include "tests/cli/command_fixture.h"

namespace podium {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const json kUsual{{"points_seconds", 7776000},
                  {"history_seconds", 31536000},
                  {"logs_seconds", 7776000},
                  {"checkpoints_seconds", "forever"}};
const json kRule{{"experiment", "bert"},
                 {"points_seconds", 2592000},
                 {"history_seconds", nullptr},
                 {"logs_seconds", "forever"},
                 {"checkpoints_seconds", 604800}};

json due() {
  const json checkpoint{{"attempt", 1},  {"step", 200},
                        {"time_ms", 1},  {"path", "jobs/12/checkpoints/step-200"},
                        {"bytes", 1500}, {"seconds", 0.25}};
  json first{
      {"job", 12},           {"name", "bert-large"}, {"experiment", "bert"}, {"ended_ms", 1772366400000},
      {"points", 480000},    {"history", 0},         {"log_bytes", 812},     {"checkpoints", {checkpoint}},
      {"needed_by", nullptr}};
  json second = first;
  second.update({{"job", 13}, {"points", 0}, {"checkpoints", json::array()}, {"needed_by", 15}});
  return {{"by_ms", 1772366400000},
          {"all",
           {{"jobs", 3},
            {"points", 480000},
            {"history", 0},
            {"log_bytes", 1624},
            {"checkpoints", 1},
            {"checkpoint_bytes", 1500}}},
          {"jobs", {first, second}}};
}

TEST_F(Commands, RetentionIsShownWithWhatIsUsualInParentheses) {
  fake_.on("GET /api/v1/retention", json{{"usual", kUsual}, {"rules", {kRule}}});
  const auto ran = program_.run({"retention"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "EXPERIMENT  POINTS  HISTORY  LOGS     CHECKPOINTS\n"
            "bert        30d     (365d)   forever  7d\n"
            "all others  90d     365d     90d      forever\n");
  EXPECT_EQ(json::parse(program_.run({"retention", "--json"}).out).at("rules").at(0), kRule);
}

TEST_F(Commands, RetentionIsSetAndWhatIsNotNamedStays) {
  fake_.on("GET /api/v1/retention", json{{"usual", kUsual}, {"rules", {kRule}}});
  fake_.on("POST /api/v1/retention/bert%20base", kRule);
  const auto ran = program_.run(
      {"retention", "set", "bert base", "--points", "30d", "--logs", "forever", "--history", "usual"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(json::parse(fake_.asked("POST /api/v1/retention/bert%20base").at(0).body),
            json({{"points_seconds", 2592000}, {"logs_seconds", "forever"}, {"history_seconds", nullptr}}));
  EXPECT_THAT(ran.out, HasSubstr("bert        30d     (365d)   forever  7d\n"));
  fake_.on("DELETE /api/v1/retention/bert", 204, "");
  EXPECT_EQ(program_.run({"retention", "unset", "bert"}).out,
            "what is kept of experiment bert is as of all others\n");
}

TEST_F(Commands, ADryRunAsksWhatWouldBeDueAndChangesNothing) {
  fake_.on("GET /api/v1/retention/due", due());
  const auto ran = program_.run({"retention", "set", "bert", "--points", "30d", "--logs", "forever",
                                 "--history", "usual", "--dry-run"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(fake_.asked("GET /api/v1/retention/due").at(0).target,
            "/api/v1/retention/"
            "due?experiment=bert&points_seconds=2592000&history_seconds=usual&logs_seconds=forever");
  EXPECT_TRUE(fake_.asked("POST /api/v1/retention/bert").empty());
  EXPECT_THAT(ran.out, HasSubstr("480,000"));
  EXPECT_THAT(ran.out, HasSubstr("and 1 more; --limit shows more of them\n"));
  EXPECT_THAT(ran.out, HasSubstr("In all 3 jobs: 480,000 points, 0 lines of history, 1.6 KiB of logs; "
                                 "1 checkpoint of 1.5 KiB.\n"));
  EXPECT_THAT(ran.out, HasSubstr("  jobs/12/checkpoints/step-200  1.5 KiB\n"));
  EXPECT_THAT(ran.out, HasSubstr("The checkpoints of job 13 stay: job 15 continues from them.\n"));
  EXPECT_EQ(json::parse(program_.run({"retention", "due", "bert", "--within", "7d", "--json"}).out), due());
  EXPECT_EQ(fake_.asked("GET /api/v1/retention/due").at(1).target,
            "/api/v1/retention/due?experiment=bert&limit=100&within_seconds=604800");
}

TEST_F(Commands, ARetentionWithoutTimesOrWithOnesThatAreNoneIsRefused) {
  EXPECT_EQ(program_.run({"retention", "set", "bert"}).status, 2);
  const auto wrong = program_.run({"retention", "set", "bert", "--points", "30"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err + wrong.out, HasSubstr("written like 30d or 12h, forever, or usual"));
  fake_.on("POST /api/v1/retention/nope", 404,
           json{{"status", 404}, {"detail", "there is no experiment nope"}}.dump());
  const auto nope = program_.run({"retention", "set", "nope", "--logs", "7d"});
  EXPECT_EQ(nope.status, 4);
  EXPECT_THAT(nope.err, HasSubstr("there is no experiment nope"));
}

TEST_F(Commands, CurvesThatLackPointsSaySo) {
  const json metric{{"key", "train/loss"}, {"count", 904}, {"first_step", 1},
                    {"last_step", 5000},   {"last_ms", 1}, {"last", 2.5},
                    {"min", 2.5},          {"max", 9.0},   {"lost_points", 4096}};
  fake_.on("GET /api/v1/jobs/12/metrics", json{{"metrics", {metric}}});
  const auto listed = program_.run({"metrics", "12"});
  EXPECT_THAT(listed.out, HasSubstr("train/loss"));
  EXPECT_THAT(listed.err, HasSubstr("warning: 4,096 points of train/loss are lost"));
  const json curve{{"key", "train/loss"}, {"points", {{1, 1000, 2.5}}}, {"lost_points", 4096}};
  fake_.on("GET /api/v1/jobs/12/series", json{{"series", {curve}}});
  const auto series = program_.run({"series", "12", "train/loss"});
  EXPECT_EQ(series.out, "train/loss\t1\t1000\t2.5\n");
  EXPECT_THAT(series.err, HasSubstr("restore a backup"));
}

TEST_F(Commands, WhatAJobDrewAndCostIsInItsJson) {
  json job = test::job_json(12, "succeeded");
  job["attempts"] = {{{"attempt", 1}, {"created_ms", 1}, {"tasks", json::array()}}};
  fake_.on("GET /api/v1/jobs/12", job);
  const json energy{{"joules", 5e6}, {"covered", 1.0}}, cost{{"currency", "EUR"}, {"amount", 8.2}};
  fake_.on("GET /api/v1/jobs/12/ledger", json{{"energy", energy}, {"cost", cost}});
  const json shown = json::parse(program_.run({"show", "12", "--json"}).out);
  EXPECT_EQ(shown.at("energy"), energy);
  EXPECT_EQ(shown.at("cost"), cost);
  fake_.on("GET /api/v1/jobs/13", test::job_json(13, "queued"));
  EXPECT_TRUE(json::parse(program_.run({"show", "13", "--json"}).out).at("energy").is_null());
}

}  // namespace
}  // namespace podium
