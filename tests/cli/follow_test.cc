// podium follow: through the stream, without one, through a broken connection, and away from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "cli/humanise.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "common/net/server_events.h"
#include "tests/cli/fake_coordinator.h"
#include "tests/cli/podium_program.h"

namespace podium {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class Follow : public ::testing::Test {
 protected:
  Follow() {
    program_.environment["PODIUM_COORDINATOR"] = fake_.address();
    fake_.on("GET /api/v1/health", json{{"status", "ok"}, {"live_id", 41}});
  }

  static json ended(const std::string& state) {
    json job = test::job_json(12, state);
    job["ended_ms"] = 152'000;
    job["ran_seconds"] = 150;
    job["target"]["reached_step"] = 1200;
    job["time_to_train_seconds"] = 149.5;
    return job;
  }

  void stream(const std::vector<ServerEvent>& events) {
    std::string text = ": hello\n\n";
    for (const ServerEvent& event : events) text += format_event(event);
    fake_.on("GET /api/v1/live", 200, text, {{"Content-Type", "text/event-stream"}});
  }

  test::FakeCoordinator fake_;
  test::PodiumProgram program_;
};

TEST_F(Follow, EndsWithTheJobAndTellsHowItWent) {
  fake_.on("GET /api/v1/jobs/12", test::job_json(12, "running"));
  fake_.on("GET /api/v1/jobs/12", ended("succeeded"));
  stream(
      {{"42", "metrics", R"({"job":12,"points":[{"key":"train/loss","step":130,"time_ms":1,"value":4.5}]})"},
       {"43", "job", ended("succeeded").dump()}});
  const auto ran = program_.run({"follow", "12"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out,
              HasSubstr("job 12 running  120/2,000  loss 5.125  310.2 seq/s  gain_over_unigram 0.1 → 0.4"));
  EXPECT_THAT(
      ran.out,
      HasSubstr(
          "job 12 quickstart succeeded after 2m30s, target eval/gain_over_unigram reached at step 1,200, "
          "time to train 2m29s"));
  EXPECT_THAT(ran.out, Not(HasSubstr("\x1b")));
  EXPECT_EQ(fake_.asked("GET /api/v1/live").at(0).headers.get("Last-Event-ID"), "41");
  EXPECT_EQ(fake_.asked("GET /api/v1/live").at(0).target, "/api/v1/live?job=12");
}

TEST_F(Follow, AJobThatNobodyCanBeToldOfGoesOn) {
  fake_.on("GET /api/v1/jobs/12", test::job_json(12, "running"));
  stream({{"42", "job", test::job_json(12, "running").dump()}});
  const auto ran = program_.run_into("/dev/full", {"follow", "12"});
  EXPECT_EQ(ran.status, 5) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("job 12 goes on: podium follow 12"));
  test::FakeCoordinator other;
  program_.environment["PODIUM_COORDINATOR"] = other.address();
  other.on("GET /api/v1/health", json{{"live_id", 1}});
  other.on("GET /api/v1/jobs/12", ended("succeeded"));
  const auto over = program_.run_into("/dev/full", {"follow", "12"});
  EXPECT_EQ(over.status, 5) << over.err;
  EXPECT_THAT(over.err, Not(HasSubstr("goes on")));
}

TEST_F(Follow, AFailedJobIsItsExitStatus) {
  for (const char* state : {"failed", "cancelled"}) {
    test::FakeCoordinator other;
    program_.environment["PODIUM_COORDINATOR"] = other.address();
    json job = test::job_json(12, state);
    job["reason"] = "rank 1 exited with 65";
    other.on("GET /api/v1/health", json{{"live_id", 1}});
    other.on("GET /api/v1/jobs/12", job);
    const auto ran = program_.run({"follow", "12"});
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.out, HasSubstr("rank 1 exited with 65"));
  }
}

TEST_F(Follow, PollsWhereThereIsNoStreamAndResumesWhereItBroke) {
  fake_.on("GET /api/v1/jobs/12", test::job_json(12, "queued"));
  fake_.on("GET /api/v1/jobs/12", test::job_json(12, "running"));
  fake_.on("GET /api/v1/jobs/12", ended("succeeded"));
  fake_.on("GET /api/v1/live", 404, "{}");
  stream({{"57", "job", test::job_json(12, "running").dump()}});  // and then it breaks off
  const auto ran = program_.run({"follow", "12"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("job 12 queued"));
  EXPECT_EQ(fake_.asked("GET /api/v1/live").size(), 2u);
}

TEST_F(Follow, BeginsAgainAfterAReset) {
  fake_.on("GET /api/v1/jobs/12", test::job_json(12, "running"));
  fake_.on("GET /api/v1/jobs/12", ended("succeeded"));
  stream({{"60", "reset", "{}"}});
  const auto ran = program_.run({"follow", "12"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(fake_.asked("GET /api/v1/health").size(), 2u);
}

TEST_F(Follow, CtrlCDetaches) {
  fake_.on("GET /api/v1/jobs/12", test::job_json(12, "running"));
  fake_.on("GET /api/v1/live", 404, "{}");
  const pid_t pid = program_.start({"follow", "12"});
  for (int i = 0; i < 6000 && fake_.asked("GET /api/v1/live").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(pid, SIGINT);
  const auto ran = program_.wait(pid);
  EXPECT_EQ(ran.status, 130);
  EXPECT_THAT(ran.out, HasSubstr("Detached; job 12 goes on."));
}

TEST_F(Follow, SpeaksJsonLines) {
  fake_.on("GET /api/v1/jobs/12", test::job_json(12, "running"));
  stream({{"42", "metrics", R"({"job":12,"points":[]})"}, {"43", "job", ended("succeeded").dump()}});
  std::istringstream lines(program_.run({"follow", "12", "--json"}).out);
  std::vector<std::string> events;
  for (std::string line; std::getline(lines, line);) events.push_back(json::parse(line).at("event"));
  EXPECT_THAT(events, ::testing::ElementsAre("job", "metrics", "job"));
}

// A program that reads the lines must learn that points are missing, once it can fetch them without a gap.
TEST_F(Follow, AResetIsAJsonLineBeforeTheJobAsItIsThen) {
  fake_.on("GET /api/v1/jobs/12", test::job_json(12, "running"));
  fake_.on("GET /api/v1/jobs/12", ended("succeeded"));
  stream({{"42", "metrics", R"({"job":12,"points":[]})"}, {"60", "reset", "{}"}});
  std::istringstream lines(program_.run({"follow", "12", "--json"}).out);
  std::vector<std::string> events;
  for (std::string line; std::getline(lines, line);) events.push_back(json::parse(line).at("event"));
  EXPECT_THAT(events, ::testing::ElementsAre("job", "metrics", "reset", "job"));
}

// It printed the changes of state alone, and not when they were.
TEST_F(Follow, OfAProgramOfOnesOwnShowsWhatItPrintsAndWhenItsStateChanged) {
  program_.environment["TZ"] = "UTC";
  json running = test::job_json(12, "running");
  running["command"] = true;
  running["progress"] = running["target"] = nullptr;
  json done = running;
  done["state"] = "succeeded";
  done["ended_ms"] = 152'000;
  fake_.on("GET /api/v1/jobs/12", running);
  fake_.on("GET /api/v1/jobs/12", running);
  fake_.on("GET /api/v1/jobs/12", done);
  fake_.on("GET /api/v1/live", 404, "{}");
  fake_.on("POST /api/v1/jobs/12/logs", 200,
           test::output(3, "stdout", "epoch 1\n") + test::output(3, "stderr", "a warning\n"));
  fake_.on("POST /api/v1/jobs/12/logs", 200, "");
  const auto ran = program_.run({"follow", "12", "--rank", "3"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out,
              ::testing::StartsWith("1970-01-01 00:00:02  job 12 running\nepoch 1\n[stderr] a warning\n"));
  EXPECT_THAT(ran.out, HasSubstr("1970-01-01 00:02:32  job 12 succeeded\n"));
  EXPECT_EQ(json::parse(fake_.asked("POST /api/v1/jobs/12/logs").at(0).body)["stdout"],
            (json{nullptr, nullptr, nullptr, -1}));
}

TEST_F(Follow, OfATrainingReadsNoOutput) {
  fake_.on("GET /api/v1/jobs/12", test::job_json(12, "running"));
  fake_.on("GET /api/v1/jobs/12", ended("succeeded"));
  fake_.on("GET /api/v1/live", 404, "{}");
  EXPECT_EQ(program_.run({"follow", "12"}).status, 0);
  EXPECT_TRUE(fake_.asked("POST /api/v1/jobs/12/logs").empty());
}

TEST_F(Follow, AnUnknownJobIsRefused) {
  const auto ran = program_.run({"follow", "99"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("no such thing here"));
}

TEST(ProgressLine, FitsEveryWidth) {
  const json job = test::job_json(12, "running");
  for (int width = 20; width <= 200; ++width)
    EXPECT_LE(cli::display_width(cli::progress_line(job, {0, 0}, 60'000, width)), width);
  const std::string wide = cli::progress_line(job, {0, 0}, 60'000, 200);
  EXPECT_THAT(wide, HasSubstr("━╸──"));
  EXPECT_THAT(wide, HasSubstr("58s, at most 15m40s left"));
  EXPECT_THAT(cli::progress_line(job, {0, 0}, 60'000, 60), HasSubstr("120/2,000"));
}

TEST(ProgressLine, TellsWhenTheTargetIsExpectedInPlaceOfTheLongestTime) {
  const std::string line = cli::progress_line(test::job_json(12, "running"), {0, 0}, 60'000, 0,
                                              "target in 5m00s (4m00s to 9m00s)");
  EXPECT_THAT(line, HasSubstr("58s, target in 5m00s (4m00s to 9m00s)"));
  EXPECT_THAT(line, Not(HasSubstr("at most")));
}

// "job 1 succeeded … target in 12s"
TEST(ProgressLine, ExpectsNothingOfAJobThatRunsNoMoreOrIsThere) {
  json reached = test::job_json(12, "running");
  reached["target"]["reached_ms"] = 60'000;
  for (const json& job : {test::job_json(12, "succeeded"), reached})
    EXPECT_THAT(cli::progress_line(job, {0, 0}, 60'000, 0, "target in 12s"), Not(HasSubstr("target in")));
}

TEST(ProgressLine, ShowsWhyAJobWaits) {
  json job = test::job_json(12, "queued");
  job["progress"] = nullptr;
  job["reason"] = "waiting: needs 2 free cpu devices";
  EXPECT_EQ(cli::progress_line(job, {}, 0, 0), "job 12 queued  waiting: needs 2 free cpu devices");
  EXPECT_EQ(cli::seconds_left(job, {}, 0), std::nullopt);
}

TEST(ProgressLine, CountsTheTimeOfAProgramThatTellsNoSteps) {
  json job = test::job_json(12, "running");
  job["progress"] = nullptr;
  EXPECT_EQ(cli::progress_line(job, {}, 62'000, 80), "job 12 running  1m00s");
  EXPECT_EQ(cli::progress_line(job, {}, 62'000, 0), "job 12 running") << "a line for each change";
}

TEST(ProgressBar, FillsUp) {
  EXPECT_EQ(cli::progress_bar(0, 4), "────");
  EXPECT_EQ(cli::progress_bar(0.5, 4), "━━──");
  EXPECT_EQ(cli::progress_bar(0.625, 4), "━━╸─");
  EXPECT_EQ(cli::progress_bar(1, 4), "━━━━");
  EXPECT_EQ(cli::progress_bar(7, 4), "━━━━");
}

}  // namespace
}  // namespace podium
