// The record board and reproductions as text.
#include "cli/board_text.h"
#include "tests/cli/command_fixture.h"

namespace podium {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

json record(int job, double seconds, const json& improvement) {
  return {{"job", job}, {"reached_ms", 0}, {"seconds", seconds}, {"improvement", improvement}};
}

json benchmark() {
  return {{"id", "bert-large-pretrain-mlm_accuracy-0123456789abcdef"},
          {"name", "bert-large pretrain, eval/mlm_accuracy at least 0.72"},
          {"identity", json::object()},
          {"runs", 3},
          {"excluded", 1},
          {"classes",
           {{{"device", "NVIDIA H200"},
             {"devices", 8},
             {"records", {record(3, 3600, nullptr), record(9, 2952, 0.18)}}}}}};
}

json board_run(int job, const json& source, const json& excluded) {
  return {{"job", job},
          {"experiment", 1},
          {"name", "bert"},
          {"seconds", 2952},
          {"started_ms", 0},
          {"reached_ms", 0},
          {"devices", {8}},
          {"device_models", {"NVIDIA H200"}},
          {"nodes", {"a", "b"}},
          {"versions", {"0.1.0"}},
          {"restarts", 2},
          {"seed", 7},
          {"source", source},
          {"file", "a.yaml"},
          {"spec_sha256", "deadbeef01"},
          {"reproduces", job == 9 ? json(3) : json()},
          {"excluded", excluded}};
}

TEST_F(Commands, TheBoardShowsTheRecordOfEachClass) {
  fake_.on("GET /api/v1/board", {{"benchmarks", {benchmark()}}});
  const std::string text = program_.run({"board"}).out;
  EXPECT_THAT(text,
              AllOf(HasSubstr("bert-large pretrain, eval/mlm_accuracy at least 0.72\n"),
                    HasSubstr("bert-large-pretrain-mlm_accuracy-0123456789abcdef  (3 runs, 1 excluded)\n"),
                    HasSubstr("NVIDIA H200        8         49m12s   −18 %    9"), Not(HasSubstr("1h00m"))));
}

TEST_F(Commands, AnEmptyBoardSaysWhatStandsThere) {
  fake_.on("GET /api/v1/board", {{"benchmarks", json::array()}});
  EXPECT_EQ(program_.run({"board"}).out,
            "No run has reached a target yet. Runs of specs with \"target:\" are listed here once they reach "
            "it.\n");
}

TEST_F(Commands, ABenchmarkShowsHowItsRecordFellAndWhereRunsComeFrom) {
  json details = benchmark();
  const json source{
      {"repository", "r"}, {"commit", std::string(40, 'c')}, {"path", "a.yaml"}, {"dirty", true}};
  details["all"] = {board_run(9, source, json::array()),
                    board_run(4, nullptr, json::array({"it shared nodes with job 5"}))};
  fake_.on("GET /api/v1/board/bert-large-pretrain-mlm_accuracy-0123456789abcdef", details);
  const std::string text = program_.run({"board", "bert-large-pretrain-mlm_accuracy-0123456789abcdef"}).out;
  EXPECT_THAT(text,
              AllOf(HasSubstr("49m12s   −18 %    9"), HasSubstr("1h00m       –    3"),
                    HasSubstr("cccccccccc with changes"), HasSubstr("deadbeef"), HasSubstr("not recorded"),
                    HasSubstr("it shared nodes with job 5"), HasSubstr("a, b")));
}

TEST_F(Commands, AReproductionTellsWhatIsDifferent) {
  fake_.on(
      "POST /api/v1/jobs/12/reproduce", 201,
      json{{"reproduces", 12}, {"job", {{"id", 57}}}, {"differences", {"the original never ran"}}}.dump());
  EXPECT_EQ(program_.run({"reproduce", "12"}).out,
            "job 57 repeats job 12\ndifferent: the original never ran\n"
            "when it has ended: podium compare 12 57\n");
}

TEST(Reproduction, TellsWhetherItWasOnOtherText) {
  const auto job = [](double seconds, const json& text) {
    return json{{"id", 12}, {"time_to_train_seconds", seconds}, {"text", text}};
  };
  const json text{{"tokens", 7}, {"sentences", 2}, {"xxh3", "0123456789abcdef"}};
  json other = text;
  other["xxh3"] = "ffffffffffffffff";
  EXPECT_EQ(cli::reproduction_text(job(60, text), job(54, text)), "job 12: 1m00s then, 54s now (−10.0 %)");
  EXPECT_EQ(cli::reproduction_text(job(60, text), job(54, other)),
            "job 12: 1m00s then, 54s now (−10.0 %); the two trained on different texts");
  EXPECT_EQ(cli::reproduction_text(job(60, nullptr), job(54, text)), "job 12: 1m00s then, 54s now (−10.0 %)");
}

}  // namespace
}  // namespace podium
