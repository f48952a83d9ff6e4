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

json job_of_ranks(const std::string& state, int attempt, int ranks) {
  json job = test::job_json(12, state);
  job["attempt"] = attempt;
  json tasks = json::array();
  for (int rank = 0; rank < ranks; ++rank) tasks.push_back({{"rank", rank}, {"node", "n"}, {"device", rank}});
  job["attempts"] = {{{"number", attempt}, {"tasks", tasks}}};
  return job;
}

class Output : public Commands {
 protected:
  void answer(const std::string& parts) { fake_.on("POST /api/v1/jobs/12/logs", 200, parts); }
  json asked(std::size_t at) const {
    return json::parse(fake_.asked("POST /api/v1/jobs/12/logs").at(at).body);
  }
};

TEST_F(Output, GoesOnWhereItStopped) {
  answer(test::output(1, "stdout", "one\n", 100));
  answer(test::output(1, "stdout", "two\n", 104));
  answer("");
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("running", 2, 2));
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("succeeded", 2, 2));
  const auto ran =
      program_.run({"logs", "12", "--rank", "1", "--attempt", "2", "--stdout", "--follow", "--tail", "4B"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "one\ntwo\n");
  EXPECT_EQ(asked(0), (json{{"attempt", 2}, {"stdout", {nullptr, -1}}, {"tail_bytes", 4}}));
  EXPECT_EQ(asked(1), (json{{"attempt", 2}, {"stdout", {nullptr, 104}}, {"tail_bytes", 4}}));
  EXPECT_EQ(asked(2), (json{{"attempt", 2}, {"stdout", {nullptr, 108}}, {"tail_bytes", 4}}));
  EXPECT_EQ(fake_.asked("POST /api/v1/jobs/12/logs").size(), 5u)
      << "what comes a moment after the end is looked for twice";
}

// The default was the standard error of rank 0: a program that prints seemed to write nothing.
TEST_F(Output, IsOfAllRanksAndBothStreamsInOneRequest) {
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("succeeded", 1, 2));
  answer(test::output(0, "stdout", "out of 0\nmore") + test::output(0, "stderr", "err of 0\n") +
         test::output(1, "stdout", "") + test::output(1, "stderr", "lost its beginning\nerr of 1\n", 50));
  EXPECT_EQ(program_.run({"logs", "12"}).out,
            "[0] out of 0\n[0 stderr] err of 0\n[1 stderr] err of 1\n[0] more\n");
  EXPECT_EQ(asked(0),
            (json{{"attempt", 1}, {"stdout", {-1, -1}}, {"stderr", {-1, -1}}, {"tail_bytes", 16384}}));
  EXPECT_EQ(fake_.asked("POST /api/v1/jobs/12/logs").size(), 1u);
}

TEST_F(Output, AsJsonIsAnObjectALine) {
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("succeeded", 3, 2));
  answer(test::output(0, "stdout", "say \"hi\"\nmore") + test::output(0, "stderr", "") +
         test::output(1, "stdout", "") + test::output(1, "stderr", "caf\xe9\n"));
  const auto both = program_.run({"--json", "logs", "12"});
  EXPECT_EQ(both.out,
            "{\"attempt\":3,\"line\":\"say \\\"hi\\\"\",\"rank\":0,\"stream\":\"stdout\"}\n"
            "{\"attempt\":3,\"line\":\"caf\xef\xbf\xbd\",\"rank\":1,\"stream\":\"stderr\"}\n"
            "{\"attempt\":3,\"line\":\"more\",\"rank\":0,\"stream\":\"stdout\"}\n");
}

TEST_F(Output, OfOneStreamAloneAsJsonIsAnObjectALine) {
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("succeeded", 3, 2));
  answer(test::output(1, "stdout", "alone\n"));
  EXPECT_EQ(program_.run({"logs", "12", "--rank", "1", "--stdout", "--json"}).out,
            "{\"attempt\":3,\"line\":\"alone\",\"rank\":1,\"stream\":\"stdout\"}\n");
}

TEST_F(Output, AsJsonHasALineOnceItHasEnded) {
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("running", 1, 1));
  for (int look = 0; look < 3; ++look) fake_.on("GET /api/v1/jobs/12", job_of_ranks("running", 1, 1));
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("succeeded", 1, 1));
  answer(test::output(0, "stdout", "half"));
  for (int look = 0; look < 3; ++look) answer("");
  answer(test::output(0, "stdout", " whole\n", 4));
  answer("");
  EXPECT_EQ(program_.run({"logs", "12", "--stdout", "--follow", "--json"}).out,
            "{\"attempt\":1,\"line\":\"half whole\",\"rank\":0,\"stream\":\"stdout\"}\n");
}

// What an attempt wrote between the last look and its end was lost.
TEST_F(Output, GoesOnToTheNextAttemptOnceTheOneBeforeIsRead) {
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("running", 1, 1));
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("running", 2, 1));
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("succeeded", 2, 1));
  answer(test::output(0, "stdout", "one\n"));
  answer(test::output(0, "stdout", "last words\n", 4));
  answer(test::output(0, "stdout", "two\n"));
  answer("");
  EXPECT_EQ(program_.run({"logs", "12", "--follow", "--stdout"}).out, "one\nlast words\ntwo\n");
  EXPECT_EQ(asked(1)["attempt"], 1);
  EXPECT_EQ(asked(1)["stdout"], json({4}));
  EXPECT_EQ(asked(2)["attempt"], 2);
}

// Of more than one answer it was cut without a word.
TEST_F(Output, OfATailIsReadToItsEnd) {
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("succeeded", 1, 1));
  json header{{"rank", 0}, {"stream", "stdout"}, {"offset", 0}, {"length", 4}, {"next", 4}, {"end", 8}};
  answer(header.dump() + "\none\n");
  answer(test::output(0, "stdout", "two\n", 4));
  EXPECT_EQ(program_.run({"logs", "12", "--stdout", "--tail", "2000000"}).out, "one\ntwo\n");
  EXPECT_EQ(asked(0)["tail_lines"], 2000000);
  EXPECT_EQ(program_.run({"logs", "12", "--tail", "3", "--all"}).status, 2);
}

// It hung without a word.
TEST_F(Output, OfAQueuedJobIsWhatItWaitsFor) {
  json queued = test::job_json(12, "queued");
  queued["attempt"] = 0;
  queued["reason"] = "needs 2 free";
  fake_.on("GET /api/v1/jobs/12", queued);
  fake_.on("GET /api/v1/jobs/12", queued);
  queued["reason"] = "is held";
  fake_.on("GET /api/v1/jobs/12", queued);
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("succeeded", 1, 1));
  answer(test::output(0, "stdout", "from the beginning\n"));
  answer("");
  const auto ran = program_.run({"logs", "12", "--follow", "--stdout", "--tail", "1"});
  EXPECT_EQ(ran.err, "podium: job 12 is queued: needs 2 free\npodium: job 12 is queued: is held\n");
  EXPECT_EQ(ran.out, "from the beginning\n");
  EXPECT_EQ(asked(0)["stdout"], json({0}));
}

// "there is no such attempt or rank of job 12"
TEST_F(Output, OfARankOrAttemptThatThereIsNotIsRefusedByItsOption) {
  fake_.on("GET /api/v1/jobs/12", job_of_ranks("running", 1, 4));
  EXPECT_EQ(program_.run({"logs", "12", "--rank", "9"}).err,
            "podium: --rank 9: attempt 1 of job 12 has the ranks 0 to 3\n");
  EXPECT_EQ(program_.run({"logs", "12", "--attempt", "2"}).err,
            "podium: --attempt 2: job 12 has had 1 so far\n");
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

TEST_F(Commands, TheBestCheckpointIsMarked) {
  json job = test::job_json(12, "running");
  const auto saved = [](int step, const json& best) {
    return json{{"step", step},     {"attempt", 1},    {"time_ms", 0},
                {"bytes", 1 << 20}, {"seconds", 0.25}, {"path", "c/step-" + std::to_string(step)},
                {"best", best}};
  };
  const json best = saved(100, {{"metric", "eval/f1"}, {"value", 88.25}}), newest = saved(200, nullptr);
  job["checkpoint"] = newest;
  job["best_checkpoint"] = best;
  fake_.on("GET /api/v1/jobs/12", job);
  fake_.on("GET /api/v1/jobs/12/checkpoints", json{{"checkpoints", {best, newest}}});
  EXPECT_THAT(program_.run({"show", "12"}).out, HasSubstr("  best          c/step-100, eval/f1 88.25\n"));
  EXPECT_EQ(program_.run({"checkpoints", "12"}).out,
            "STEP  SAVED                SIZE   TOOK  ATTEMPT  BEST BY        PATH\n"
            " 100  1970-01-01 00:00  1.0 MiB  0.25s        1  eval/f1 88.25  c/step-100\n"
            " 200  1970-01-01 00:00  1.0 MiB  0.25s        1                 c/step-200\n");
}

TEST_F(Commands, ACheckpointThatNewerOnesHaveReplacedHasNoPath) {
  const json gone = {{"step", 100},     {"attempt", 1},         {"time_ms", 0},    {"bytes", 1 << 20},
                     {"seconds", 0.25}, {"path", "c/step-100"}, {"best", nullptr}, {"removed", true}};
  fake_.on("GET /api/v1/jobs/12/checkpoints", json{{"checkpoints", {gone}}});
  EXPECT_EQ(program_.run({"checkpoints", "12"}).out,
            "STEP  SAVED                SIZE   TOOK  ATTEMPT  PATH\n"
            " 100  1970-01-01 00:00  1.0 MiB  0.25s        1  removed\n");
}

TEST_F(Commands, ShowSaysWhatAJobBeginsWith) {
  json job = test::job_json(12, "queued");
  job["spec"]["model"]["init"] = {{"job", 7}, {"checkpoint", "best"}};
  fake_.on("GET /api/v1/jobs/12", job);
  job["spec"]["model"]["init"] = "models/bert";
  fake_.on("GET /api/v1/jobs/12", job);
  job["origin"] = {{"path", "/s/7/step-1200"}, {"step", 1200}, {"xxh3", "0123456789abcdef"}};
  fake_.on("GET /api/v1/jobs/12", job);
  for (const char* begin :
       {"the best checkpoint of job 7", "models/bert", "step 1,200 of /s/7/step-1200, XXH3 0123456789abcdef"})
    EXPECT_THAT(program_.run({"show", "12"}).out, HasSubstr(std::string("begins with   ") + begin + "\n"));
}

}  // namespace
}  // namespace podium
