// Studies and published rows as text.
#include "tests/cli/command_fixture.h"

namespace podium {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

json rate(double median) {
  return {{"median", median}, {"low", median - 1}, {"high", median + 1}, {"points", 9}};
}

json row(int devices, double median, const json& time) {
  return {{"devices", devices},
          {"jobs", {devices}},
          {"so_far", false},
          {"reached", 1},
          {"samples_per_second", rate(median)},
          {"tokens_per_second", nullptr},
          {"per_device", median / devices},
          {"speed_up", median / 100},
          {"efficiency", median / devices / 100},
          {"model_flops_per_second", 2.5e12},
          {"mfu", 0.25},
          {"time_to_train_seconds", time.is_null() ? json() : json(90)},
          {"samples_to_target", time.is_null() ? json() : json(6400)},
          {"stepping_share", time.is_null() ? json() : json(0.5)},
          {"evaluation_share", nullptr},
          {"checkpoint_share", 0.01},
          {"time_efficiency", time}};
}

json study() {
  const json identity{{"efficiency", 0.75}, {"throughput", 0.9}, {"samples", 1}, {"stepping", 0.8333}};
  return {
      {"id", 3},
      {"name", "scale"},
      {"kind", "scaling"},
      {"state", "failed"},
      {"states", {{"failed", 1}, {"succeeded", 2}}},
      {"created_ms", 0},
      {"scaling", {{"devices", {1, 2, 4}}, {"mode", "weak"}, {"repeat", 2}, {"together", false}}},
      {"sweep", nullptr},
      {"members",
       {{{"job", 7},
         {"name", "scale-devices=4"},
         {"state", "failed"},
         {"devices", 4},
         {"kind", "cpu"},
         {"parameters", json::object()},
         {"seed", 1},
         {"restarts", 0},
         {"artificial", false},
         {"reason", "bad data"},
         {"time_to_train_seconds", nullptr}}}},
      {"tables",
       {{{"parameters", {{"training.optimizer.lr", 0.001}}},
         {"base", 1},
         {"sentence", "2 devices: 90 % of linear from 1"},
         {"slots_share_cores", true},
         {"rows", {row(1, 100, nullptr), row(2, 180, identity)}}}}},
      {"warnings", {{{"code", "failed"}, {"job", 7}, {"sentence", "job 7 (4 devices) failed: bad data"}}}},
      {"published", json::array()}};
}

TEST_F(Commands, AStudyIsATableOfSizes) {
  fake_.on("GET /api/v1/studies/3", study());
  const std::string text = program_.run({"study", "3"}).out;
  EXPECT_THAT(text, AllOf(HasSubstr("study 3: scale, failed\n"), HasSubstr("training.optimizer.lr = 0.001\n"),
                          HasSubstr("2 devices: 90 % of linear from 1; CPU slots share cores\n"),
                          HasSubstr("warning: job 7 (4 devices) failed: bad data\n")));
  EXPECT_THAT(text,
              HasSubstr("      2     1  180 (179–181)         –          90     1.800      90.0 %      2.5  "
                        "25.0 %           –   1.0 %\n"));
  EXPECT_THAT(
      text,
      HasSubstr("      2          1m30s     6400    50.0 %           75.0 %         0.900      1.000       "
                "0.833\n"));
  EXPECT_THAT(text, Not(HasSubstr("published")));
}

TEST_F(Commands, PublishedRowsStandApart) {
  json with_rows = study();
  with_rows["published"] = {{{"benchmark", "b"},
                             {"what", "w"},
                             {"hardware", "64 × H100"},
                             {"devices", 64},
                             {"precision", nullptr},
                             {"batch", 4608},
                             {"value", 0.935},
                             {"unit", "min"},
                             {"runs", 1},
                             {"source", "MLPerf"},
                             {"url", nullptr},
                             {"date", "2023-06"},
                             {"note", nullptr},
                             {"file", "f.yaml"}}};
  fake_.on("GET /api/v1/studies/3", with_rows);
  EXPECT_THAT(
      program_.run({"study", "3", "--published", "b"}).out,
      HasSubstr("\npublished by others, not measured here:\n"
                "BENCHMARK  WHAT  HARDWARE   DEVICES  PRECISION  BATCH  VALUE  UNIT  SOURCE  DATE\n"
                "b          w     64 × H100       64  –          4,608  0.935  min   MLPerf  2023-06\n"));
  EXPECT_EQ(fake_.asked("GET /api/v1/studies/3").at(0).target, "/api/v1/studies/3?published=b");
  fake_.on("GET /api/v1/published", json{{"published", with_rows["published"]}});
  EXPECT_THAT(program_.run({"published", "b"}).out, HasSubstr("64 × H100"));
  EXPECT_EQ(fake_.asked("GET /api/v1/published").at(0).target, "/api/v1/published?benchmark=b");
}

TEST_F(Commands, StudiesSayWhatTheyVary) {
  json sweep = study();
  sweep["kind"] = "sweep";
  sweep["scaling"] = nullptr;
  sweep["sweep"] = {{"training.optimizer.lr", {1, 2, 3}}};
  fake_.on("GET /api/v1/studies", json{{"studies", {study(), sweep}}});
  EXPECT_THAT(program_.run({"studies"}).out,
              AllOf(HasSubstr("weak, 1 2 4 devices, 2 seeds"), HasSubstr("training.optimizer.lr (3)"),
                    HasSubstr("1 failed, 2 succeeded")));
  EXPECT_EQ(json::parse(program_.run({"studies", "--json"}).out).at("studies").size(), 2u);
}

json trial(int job, double lr, const std::string& state, int rung, const json& reports, const json& latest) {
  return {{"job", job},
          {"state", state == "stopped"    ? "stopped"
                    : state == "finished" ? "succeeded"
                                          : "queued"},
          {"parameters", {{"training.optimizer.lr", lr}}},
          {"trial",
           {{"state", state},
            {"rung", rung},
            {"to_its_end", state == "finished"},
            {"reports", reports},
            {"latest", latest},
            {"steps", 90},
            {"device_seconds", 30}}}};
}

json report(int rung, const json& value) { return {{"rung", rung}, {"step", 30 * rung}, {"value", value}}; }

json sweep_of_three() {
  json sweep = study();
  sweep["tables"] = sweep["warnings"] = json::array();
  sweep["members"] = {
      trial(7, 0.001, "finished", 2, json::array({report(1, 5.25), report(2, 4.5)}),
            {{"step", 90}, {"value", 4.125}}),
      trial(8, 0.03, "paused", 1, json::array({report(1, nullptr)}), {{"step", 30}, {"value", nullptr}}),
      trial(9, 0.01, "waiting", 0, json::array(), nullptr)};
  sweep["asha"] = {
      {"metric", "eval/mlm_loss"},
      {"goal", "min"},
      {"min_steps", 30},
      {"max_steps", 90},
      {"reduction", 2},
      {"rungs",
       {{{"rung", 1}, {"step", 30}, {"told", 2}, {"went_on", 1}},
        {{"rung", 2}, {"step", 60}, {"told", 1}, {"went_on", 1}}}},
      {"best",
       {{"job", 7}, {"parameters", {{"training.optimizer.lr", 0.001}}}, {"step", 90}, {"value", 4.125}}},
      {"device_seconds", 90},
      {"full_device_seconds", 270}};
  return sweep;
}

TEST_F(Commands, ASweepThatEndsLosersIsATableOfTrials) {
  fake_.on("GET /api/v1/studies/3", sweep_of_three());
  const std::string text = program_.run({"study", "3"}).out;
  EXPECT_THAT(
      text,
      HasSubstr(
          "by eval/mlm_loss (min), one of 2 goes on at step 30 (2 reported, 1 went on), 60 (1 reported, 1 "
          "went on); winners train to step 90\n"
          "best so far: job 7, training.optimizer.lr 0.001: 4.125 at step 90\n"
          "device time: 1m30s of about 4m30s that all trials would take to their ends (33 %)\n"));
  EXPECT_THAT(text, HasSubstr("JOB     lr  STATE             RUNG  STEP 30  STEP 60  LATEST  STEPS\n"));
  EXPECT_THAT(text, HasSubstr("  7  0.001  finished           end     5.25      4.5   4.125     90\n"
                              "  8   0.03  paused at rung 1     1      NaN        –     NaN     90\n"
                              "  9   0.01  waiting              –        –        –       –     90\n"));
}

TEST_F(Commands, OfASweepThatHasJustBegunNothingIsMadeUp) {
  json sweep = sweep_of_three();
  sweep["asha"]["best"] = sweep["asha"]["full_device_seconds"] = nullptr;
  fake_.on("GET /api/v1/studies/3", sweep);
  EXPECT_THAT(program_.run({"study", "3"}).out,
              HasSubstr("best so far: no trial has reported its metric\ndevice time: 1m30s\n"));
}

}  // namespace
}  // namespace podium
