// What a job has written: metrics, output and checkpoints.
#include "tests/cli/command_fixture.h"

namespace podium {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(Commands, MetricsAndSeries) {
  fake_.on("GET /api/v1/jobs/12/metrics", json{{"metrics",
                                                {{{"key", "train/loss"},
                                                  {"count", 1200},
                                                  {"first_step", 1},
                                                  {"last_step", 1200},
                                                  {"last_ms", 0},
                                                  {"last", 4.25},
                                                  {"min", "NaN"},
                                                  {"max", 9.5}}}}});
  fake_.on("GET /api/v1/jobs/12/series",
           json{{"series", {{{"key", "train/loss"}, {"points", {{1, 1000, 9.5}, {2, 2000, "Infinity"}}}}}}});
  EXPECT_THAT(program_.run({"metrics", "12"}).out,
              HasSubstr("train/loss   1,200      1,200  4.25  NaN  9.5"));
  EXPECT_EQ(program_.run({"series", "12", "train/loss"}).out,
            "train/loss\t1\t1000\t9.5\ntrain/loss\t2\t2000\tInfinity\n");
  EXPECT_EQ(fake_.asked("GET /api/v1/jobs/12/series").at(0).target,
            "/api/v1/jobs/12/series?points=1000&key=train%2Floss");
}

TEST_F(Commands, LogsGoOnWhereTheyStopped) {
  fake_.on("GET /api/v1/jobs/12/logs", 200, "one\n", {{"X-Podium-Next-Offset", "104"}});
  fake_.on("GET /api/v1/jobs/12/logs", 200, "two\n", {{"X-Podium-Next-Offset", "108"}});
  fake_.on("GET /api/v1/jobs/12/logs", 200, "", {{"X-Podium-Next-Offset", "108"}});
  fake_.on("GET /api/v1/jobs/12", test::job_json(12, "running"));
  fake_.on("GET /api/v1/jobs/12", test::job_json(12, "succeeded"));
  const auto ran =
      program_.run({"logs", "12", "--rank", "1", "--attempt", "2", "--stdout", "--follow", "--tail", "4B"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "one\ntwo\n");
  const auto asked = fake_.asked("GET /api/v1/jobs/12/logs");
  ASSERT_EQ(asked.size(), 5u) << "what comes a moment after the end is looked for twice";
  EXPECT_EQ(asked[0].target, "/api/v1/jobs/12/logs?attempt=2&rank=1&stream=stdout&tail=4");
  EXPECT_EQ(asked[1].target, "/api/v1/jobs/12/logs?attempt=2&rank=1&stream=stdout&offset=104");
  EXPECT_EQ(asked[2].target, "/api/v1/jobs/12/logs?attempt=2&rank=1&stream=stdout&offset=108");
}

json job_of_ranks(const std::string& state, int attempt, int ranks) {
  json job = test::job_json(12, state);
  job["attempt"] = attempt;
  json tasks = json::array();
  for (int rank = 0; rank < ranks; ++rank) tasks.push_back({{"rank", rank}, {"node", "n"}, {"device", rank}});
  job["attempts"] = {{{"number", attempt}, {"tasks", tasks}}};
  return job;
}

// The default was the standard error of rank 0: a program that prints seemed to write nothing.
TEST_F(Commands, LogsAreOfAllRanksAndBothStreams) {
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("succeeded", 1, 2));
  for (const char* text : {"out of 0\nmore", "err of 0\n", "", "err of 1\n"})
    fake_.on("GET /api/v1/jobs/12/logs", 200, text, {{"X-Podium-Next-Offset", "9"}});
  EXPECT_EQ(program_.run({"logs", "12"}).out,
            "[0] out of 0\n[0 stderr] err of 0\n[1 stderr] err of 1\n[0] more\n");
  EXPECT_EQ(fake_.asked("GET /api/v1/jobs/12/logs").at(3).target,
            "/api/v1/jobs/12/logs?attempt=1&rank=1&stream=stderr&tail=16384");
}

// What an attempt wrote between the last look and its end was lost.
TEST_F(Commands, LogsGoOnToTheNextAttemptOnceTheOneBeforeIsRead) {
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("running", 1, 1));
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("running", 2, 1));
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("succeeded", 2, 1));
  const auto part = [&](const char* text, const char* next) {
    fake_.on("GET /api/v1/jobs/12/logs", 200, text, {{"X-Podium-Next-Offset", next}});
  };
  part("one\n", "4");
  part("last words\n", "15");
  part("", "15");
  part("two\n", "4");
  part("", "4");
  EXPECT_EQ(program_.run({"logs", "12", "--follow", "--stdout"}).out, "one\nlast words\ntwo\n");
  EXPECT_EQ(fake_.asked("GET /api/v1/jobs/12/logs").at(1).target,
            "/api/v1/jobs/12/logs?attempt=1&rank=0&stream=stdout&offset=4");
}

TEST_F(Commands, ATailIsOfLines) {
  std::string text;
  for (int line = 1; line <= 100; ++line) text += "line " + std::to_string(line) + "\n";
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("succeeded", 1, 1));
  fake_.on("GET /api/v1/jobs/12/logs", 200, text, {{"X-Podium-Next-Offset", "9"}});
  EXPECT_EQ(program_.run({"logs", "12", "--stdout", "--tail", "2"}).out, "line 99\nline 100\n");
  EXPECT_THAT(program_.run({"logs", "12", "--stdout", "--tail", "100"}).out,
              AllOf(HasSubstr("line 1\n"), HasSubstr("line 100\n")));
  EXPECT_EQ(program_.run({"logs", "12", "--tail", "3", "--all"}).status, 2);
}

// It hung without a word.
TEST_F(Commands, LogsOfAQueuedJobSayWhatItWaitsFor) {
  json queued = test::job_json(12, "queued");
  queued["attempt"] = 0;
  queued["reason"] = "needs 2 free";
  fake_.on("GET /api/v1/jobs/12", queued);
  fake_.on("GET /api/v1/jobs/12", queued);
  queued["reason"] = "is held";
  fake_.on("GET /api/v1/jobs/12", queued);
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("succeeded", 1, 1));
  fake_.on("GET /api/v1/jobs/12/logs", 200, "from the beginning\n", {{"X-Podium-Next-Offset", "9"}});
  fake_.on("GET /api/v1/jobs/12/logs", 200, "", {{"X-Podium-Next-Offset", "9"}});
  const auto ran = program_.run({"logs", "12", "--follow", "--stdout", "--tail", "1"});
  EXPECT_EQ(ran.err, "podium: job 12 is queued: needs 2 free\npodium: job 12 is queued: is held\n");
  EXPECT_EQ(ran.out, "from the beginning\n");
  EXPECT_EQ(fake_.asked("GET /api/v1/jobs/12/logs").at(0).target,
            "/api/v1/jobs/12/logs?attempt=1&rank=0&stream=stdout&offset=0");
}

TEST_F(Commands, CheckpointsSayWhereTheyLie) {
  json job = test::job_json(12, "succeeded");
  const json saved{{"step", 2000},     {"attempt", 1},    {"time_ms", 0},
                   {"bytes", 1 << 20}, {"seconds", 0.25}, {"path", "c/jobs/12/checkpoints/step-00002000"}};
  job["checkpoint"] = saved;
  fake_.on("GET /api/v1/jobs/12", job);
  fake_.on("GET /api/v1/jobs/12/checkpoints", json{{"checkpoints", {saved}}});
  EXPECT_THAT(program_.run({"show", "12"}).out,
              HasSubstr("checkpoint    c/jobs/12/checkpoints/step-00002000\n"));
  EXPECT_EQ(program_.run({"checkpoints", "12"}).out,
            " STEP  SAVED                SIZE   TOOK  ATTEMPT  PATH\n"
            "2,000  1970-01-01 00:00  1.0 MiB  0.25s        1  c/jobs/12/checkpoints/step-00002000\n");
}

}  // namespace
}  // namespace podium
