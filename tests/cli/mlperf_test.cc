// podium mlperf: logs that are checked and scored here, and what goes to the coordinator and comes from it.
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "common/mlperf/log.h"
#include "tests/cli/command_fixture.h"
#include "tests/common/mlperf/real_logs.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

// Of BERT in the open division, which lasts so many seconds.
std::string open_log(double seconds, double accuracy = 0.721, const char* status = "success") {
  std::string text;
  std::int64_t time = 0;
  const auto say = [&](const char* key, const json& value, const json& metadata = json::object()) {
    text += mlperf::line_text({0, time, mlperf::kPoint, key, value, metadata});
  };
  for (const auto& [key, value] : std::vector<std::pair<const char*, json>>{{"init_start", nullptr},
                                                                            {"init_start", nullptr},
                                                                            {"cache_clear", true},
                                                                            {"submission_benchmark", "bert"},
                                                                            {"submission_org", "ACME"},
                                                                            {"submission_division", "open"},
                                                                            {"submission_platform", "anvil"},
                                                                            {"global_batch_size", 512},
                                                                            {"init_stop", nullptr},
                                                                            {"run_start", nullptr}})
    say(key, value);
  say("block_start", nullptr, {{"first_epoch_num", 0}, {"epoch_count", 1}});
  time = static_cast<std::int64_t>(seconds * 1000);
  say("eval_accuracy", accuracy, {{"epoch_num", 1234567}});
  say("block_stop", nullptr, {{"first_epoch_num", 0}});
  say("train_samples", 1234567);
  say("eval_samples", 100);
  say("run_stop", nullptr, {{"status", status}});
  return text;
}

class Mlperf : public Commands {
 protected:
  // Ten runs, of 1 to 10 minutes.
  std::vector<std::string> ten(const std::string& command) {
    std::vector<std::string> arguments{"mlperf", command};
    for (int i = 1; i <= 10; ++i) arguments.push_back(write(std::to_string(i) + ".txt", open_log(60 * i)));
    return arguments;
  }
};

TEST_F(Mlperf, ALogThatHoldsIsSaidTo) {
  const auto ran = program_.run({"mlperf", "check", write("good.txt", open_log(100))});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "good.txt holds to the rules of round 4.1 for bert, open division\n");
}

TEST_F(Mlperf, FindingsHaveTheirLineAndRule) {
  write("bad.txt", "hello\n" + open_log(100, 0.5, "aborted") + ":::MLLOG {\n");
  const auto ran = program_.run({"mlperf", "check", "bad.txt", "--round", "3.0"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(
      ran.err,
      "bad.txt:13: target: no evaluation of the run reaches eval_accuracy at least 0.72; the best is 0.5\n"
      "bad.txt:17: status: the run ended with the status \"aborted\", not \"success\"\n"
      "bad.txt:18: line: the text behind :::MLLOG is not JSON\n"
      "bad.txt: submission_status/one: there is no submission_status\n"
      "bad.txt: 4 findings by the rules of round 3.0\n");
  const auto machine = program_.run({"mlperf", "check", "bad.txt", "--json"});
  const json verdict = json::parse(machine.out);
  EXPECT_EQ(verdict["holds"], false);
  EXPECT_EQ(verdict["round"], "4.1");
  EXPECT_EQ(verdict["benchmark"], "bert");
  EXPECT_EQ(verdict["findings"].size(), 3u);
  EXPECT_EQ(verdict["findings"][0]["line"], 13);
  EXPECT_EQ(verdict["findings"][0]["rule"], "target");
}

TEST_F(Mlperf, ForeignFilesAreToldFromLogs) {
  const auto foreign =
      program_.run({"mlperf", "check", write("a.txt", "Epoch 1\n"), write("b.txt", open_log(9))});
  EXPECT_EQ(foreign.status, 4);
  EXPECT_EQ(foreign.err,
            "a.txt: line: no line has the token :::MLLOG: this is no log of MLPerf Training\n"
            "a.txt: 1 finding by the rules of round 4.1\n");
  EXPECT_THAT(foreign.out, HasSubstr("b.txt holds"));
  const auto none = program_.run({"mlperf", "check", "none.txt"});
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.err,
            "podium: none.txt is not a file; name a log of MLPerf Training, or - for standard input\n");
  const auto round = program_.run({"mlperf", "check", "b.txt", "--round", "9"});
  EXPECT_EQ(round.status, 2);
  EXPECT_EQ(
      round.err,
      "podium: there is no round \"9\" of MLPerf Training here; there are 0.7, 1.0, 1.1, 2.0, 2.1, 3.0, "
      "3.1, 4.0, 4.1, 5.0\n");
}

TEST_F(Mlperf, ALogMayComeThroughAPipe) {
  const auto pipe = program_.folder() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << open_log(100); });
  const auto ran = program_.run({"mlperf", "check", "pipe"});
  writer.join();
  EXPECT_EQ(ran.out, "pipe holds to the rules of round 4.1 for bert, open division\n");
  const auto endless = program_.run({"mlperf", "check", "/dev/zero"});
  EXPECT_EQ(endless.status, 2);
  EXPECT_EQ(endless.err, "podium: /dev/zero has more than 268435456 bytes, which a log has at most\n");
}

TEST_F(Mlperf, WithoutARoundALogIsHeldToTheOneThatFitsIt) {
  const auto logs = mlperf::test::real_logs();
  if (logs.empty()) GTEST_SKIP() << "skipped: no shared data";
  std::vector<std::string> arguments{"mlperf", "check"};
  for (const auto& log : logs) arguments.push_back(write(log.name, log.text));
  const auto all = program_.run(arguments);
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr(logs[0].name + " holds to the rules of round 2.0 for bert"));
  const auto named = program_.run({"mlperf", "check", logs[0].name, "--round", "4.1"});
  EXPECT_EQ(named.status, 4);
  EXPECT_THAT(program_.run({"mlperf", "score", logs[0].name}).out,
              AllOf(HasSubstr("round 2.0"), testing::Not(HasSubstr("breaks rules"))));
}

TEST_F(Mlperf, ARunThatBreaksARuleMakesNoResult) {
  std::string bad = open_log(60);
  bad.erase(0, bad.find('\n') + 1);
  bad.erase(0, bad.find('\n') + 1);  // both init_start
  const auto ran = program_.run({"mlperf", "score", write("bad.txt", bad)});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.out,
              HasSubstr("not as MLPerf takes it: bad.txt breaks rules of the round: init_start/some\n"));
}

TEST_F(Mlperf, ARunCountsOnce) {
  write("1.txt", open_log(60));
  for (const char* command : {"score", "import"}) {
    const auto ran = program_.run({"mlperf", command, "1.txt", write("2.txt", open_log(61)),
                                   write("copy.txt", open_log(60)), "--round", "4.1"});
    EXPECT_EQ(ran.status, 4);
    EXPECT_THAT(ran.err, HasSubstr("copy.txt: the same run as 1.txt: give it once"));
  }
}

TEST_F(Mlperf, TenRunsAreAResult) {
  const auto ran = program_.run(ten("score"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("bert, open division, round 4.1: ACME, anvil, 2 devices, global batch 512\n"),
                    HasSubstr("left out: the fastest"), HasSubstr("left out: the slowest"),
                    HasSubstr("result: 5.500 min\n")));
  auto arguments = ten("score");
  arguments.push_back("--json");
  const json score = json::parse(program_.run(arguments).out);
  EXPECT_EQ(score["seconds"], 330);
  EXPECT_EQ(score["valid"], true);
  EXPECT_EQ(score["runs"][0]["counted"], false);
  EXPECT_EQ(score["runs"][1]["counted"], true);
  EXPECT_EQ(score["runs"][9]["counted"], false);
}

TEST_F(Mlperf, WhatIsNoResultIsSaidSo) {
  write("2.txt", open_log(60, 0.1));
  const auto ran = program_.run({"mlperf", "score", write("1.txt", open_log(60)), "2.txt"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("did not converge"), HasSubstr("result: none\n"),
                    HasSubstr("not as MLPerf takes it: a result of bert takes 10 runs, and this has 2\n")));
  const auto foreign = program_.run({"mlperf", "score", write("a.txt", "Epoch 1\n")});
  EXPECT_EQ(foreign.status, 4);
  EXPECT_THAT(foreign.err, HasSubstr("a.txt: there is no run_start, so the log has no time to train"));
}

TEST_F(Mlperf, AResultIsPublishedOfItsRuns) {
  fake_.on("POST /api/v1/published",
           json{{"added", 1}, {"replaced", 0}, {"unchanged", 0}, {"published", json::array()}});
  auto arguments = ten("import");
  for (const char* more : {"--round", "4.1", "--hardware", "8 anvils"}) arguments.emplace_back(more);
  const auto ran = program_.run(arguments);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 added, 0 replaced, 0 there already:\n"));
  const json body = json::parse(fake_.asked("POST /api/v1/published").at(0).body);
  EXPECT_EQ(body, (json{{"records",
                         {{{"benchmark", "mlperf-bert"},
                           {"what", "BERT-Large to 0.72 masked-LM accuracy"},
                           {"hardware", "8 anvils"},
                           {"devices", 2},
                           {"batch", 512},
                           {"value", 5.5},
                           {"unit", "min"},
                           {"runs", 10},
                           {"source", "MLPerf Training v4.1, ACME, open division"},
                           {"url", "https://github.com/mlcommons/training_results_v4.1"},
                           {"date", "2024-11"}}}}}));
  arguments.insert(arguments.end(), {"--devices", "16"});
  program_.run(arguments);
  EXPECT_EQ(json::parse(fake_.asked("POST /api/v1/published").at(1).body)["records"][0]["devices"], 16);
}

TEST_F(Mlperf, AResultMayHaveOneRunThatDidNotConverge) {
  fake_.on("POST /api/v1/published",
           json{{"added", 1}, {"replaced", 0}, {"unchanged", 0}, {"published", json::array()}});
  auto arguments = ten("import");
  write("1.txt", open_log(60, 0.1, "aborted"));
  arguments.insert(arguments.end(), {"--round", "4.1"});
  const auto ran = program_.run(arguments);
  EXPECT_EQ(ran.status, 0) << ran.err;
  // Of 2 to 10 minutes and the one that failed 2 and the failed one are left out.
  EXPECT_EQ(json::parse(fake_.asked("POST /api/v1/published").at(0).body)["records"][0]["value"], 6.5);
  write("2.txt", open_log(120, 0.1, "aborted"));
  const auto two = program_.run(arguments);
  EXPECT_EQ(two.status, 4);
  EXPECT_THAT(two.err, HasSubstr("10 runs of bert on anvil come to no time"));
}

TEST_F(Mlperf, WhatDoesNotHoldIsNotPublished) {
  const auto ran = program_.run(
      {"mlperf", "import", write("1.txt", ":::MLLOG {\n" + open_log(60, 0.1)), "--round", "4.1"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("nothing is imported: is --round 4.1 theirs?"),
                             HasSubstr("1.txt:1: line: "), testing::Not(HasSubstr("target"))));
  const auto failed = program_.run({"mlperf", "import", write("1.txt", open_log(60, 0.1)), "--round", "4.1"});
  EXPECT_EQ(failed.status, 4);
  EXPECT_THAT(failed.err, HasSubstr("1 run of bert on anvil comes to no time"));
  const auto two = program_.run(
      {"mlperf", "import", write("1.txt", open_log(60)), write("2.txt", open_log(61)), "--round", "4.1"});
  EXPECT_EQ(two.status, 4);
  EXPECT_THAT(two.err, HasSubstr("2 runs of bert on anvil come to no time"));
  EXPECT_EQ(program_.run({"mlperf", "import", "1.txt"}).status, 2) << "without --round";
  EXPECT_TRUE(fake_.asked("POST /api/v1/published").empty());
}

TEST_F(Mlperf, TheResultFileOfAJobIsPrintedAsItIs) {
  fake_.on("GET /api/v1/jobs/12/mlperf", 200, ":::MLLOG {}\n");
  EXPECT_EQ(program_.run({"mlperf", "result", "12"}).out, ":::MLLOG {}\n");
  EXPECT_EQ(json::parse(program_.run({"mlperf", "result", "12", "--json"}).out),
            (json{{"job", 12}, {"log", ":::MLLOG {}\n"}}));
  EXPECT_EQ(program_.run({"mlperf", "result", "13"}).status, 4);
}

}  // namespace
}  // namespace podium
