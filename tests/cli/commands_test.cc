// Each command against known answers: what it asks, what it prints, and its exit status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/terminal.h"
#include "common/base/file.h"
#include "tests/cli/fake_coordinator.h"
#include "tests/cli/podium_program.h"

namespace podium {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class Commands : public ::testing::Test {
 protected:
  Commands() { program_.environment["PODIUM_COORDINATOR"] = fake_.address(); }

  std::string write(const std::string& name, const std::string& text) {
    write_file_atomic(program_.folder() / name, text);
    return name;
  }

  test::FakeCoordinator fake_;
  test::PodiumProgram program_;
};

const char* kSpec = "version: 1\nname: a\ncommand: [sleep, \"1\"]\nresources: {devices: 1}\n";

TEST_F(Commands, SubmitSendsTheSpecOnceAndPrintsJobs) {
  program_.environment["PODIUM_TOKEN"] = "secret";
  fake_.on("POST /api/v1/experiments", 201,
           json{{"experiment", {{"id", 3}, {"name", "a"}}}, {"jobs", {test::job_json(12, "queued")}}}.dump());
  const auto ran = program_.run({"submit", write("a.yaml", kSpec)});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "experiment 3 (a)\njob 12  quickstart  queued\n");
  const auto asked = fake_.asked("POST /api/v1/experiments");
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].headers.get("Authorization"), "Bearer secret");
  EXPECT_EQ(asked[0].headers.get("Idempotency-Key").size(), 32u);
  const json body = json::parse(asked[0].body);
  EXPECT_EQ(body["spec"], kSpec);
  EXPECT_EQ(body["file"], "a.yaml");
  EXPECT_FALSE(body.contains("source"));
}

TEST_F(Commands, SubmitTakesTheKeyItIsGiven) {
  fake_.on("POST /api/v1/experiments",
           json{{"experiment", {{"id", 3}, {"name", "a"}}}, {"jobs", json::array()}});
  const auto ran = program_.run({"submit", write("a.yaml", kSpec), "--key", "nightly-7", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(json::parse(ran.out)["experiment"]["id"], 3);
  EXPECT_EQ(fake_.asked("POST /api/v1/experiments").at(0).headers.get("Idempotency-Key"), "nightly-7");
}

TEST_F(Commands, RefusalsAreShownLineByLine) {
  fake_.on("POST /api/v1/experiments", 422,
           R"({"title":"Unprocessable spec","status":422,"detail":"2 problems","errors":[)"
           R"({"message":"first","where":"a.yaml:4:1"},{"message":"second","where":""}]})");
  const auto ran = program_.run({"submit", write("a.yaml", kSpec)});
  EXPECT_EQ(ran.status, 4);
  EXPECT_EQ(ran.err, "podium: a.yaml:4:1: first\nsecond\n");
}

TEST_F(Commands, AMissingTokenComesWithItsRemedy) {
  fake_.on("POST /api/v1/jobs/12/cancel", 401,
           R"({"title":"Unauthorized","status":401,"detail":"no token"})");
  const auto ran = program_.run({"cancel", "12"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("no token; name the user token with --token-file"));
}

TEST_F(Commands, TheTokenIsFoundInPodiumHome) {
  fake_.on("POST /api/v1/jobs/12/cancel", 202, test::job_json(12, "stopping").dump());
  write("user.token", "from-home\n");
  program_.environment["PODIUM_HOME"] = program_.folder().string();
  EXPECT_EQ(program_.run({"cancel", "12"}).out, "job 12 is stopping\n");
  EXPECT_EQ(fake_.asked("POST /api/v1/jobs/12/cancel").at(0).headers.get("Authorization"),
            "Bearer from-home");
  write("other.token", "from-option");
  program_.run({"cancel", "12", "--token-file", "other.token"});
  EXPECT_EQ(fake_.asked("POST /api/v1/jobs/12/cancel").at(1).headers.get("Authorization"),
            "Bearer from-option");
}

TEST_F(Commands, AccountsAreShownAsATreeAndChanged) {
  const json bert{{"account", "nlp/bert"},
                  {"share", 3},
                  {"quota", {{"gpu", 64}}},
                  {"limit", json::object()},
                  {"usage",
                   {{"gpu",
                     {{"devices", 8},
                      {"borrowed", 2},
                      {"device_seconds", 7200.0},
                      {"factor", 2400.0},
                      {"waiting_jobs", 2},
                      {"waiting_devices", 16}}}}}};
  json nlp = bert;
  nlp["account"] = "nlp";
  fake_.on("GET /api/v1/accounts", json{{"accounts", {nlp, bert}}});
  const auto ran = program_.run({"accounts"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("nlp          3  gpu"));
  EXPECT_THAT(
      ran.out,
      HasSubstr("  bert       3  gpu      8         2     64      –       16          2.0       0.7"));
  fake_.on("POST /api/v1/accounts/nlp%2Fbert", 200, bert.dump());
  const auto set = program_.run(
      {"accounts", "set", "nlp/bert", "--share", "3", "--quota", "gpu=64", "--limit", "gpu=none"});
  EXPECT_EQ(set.status, 0) << set.err;
  EXPECT_EQ(json::parse(fake_.asked("POST /api/v1/accounts/nlp%2Fbert").at(0).body),
            json({{"share", 3}, {"quota", {{"gpu", 64}}}, {"limit", {{"gpu", nullptr}}}}));
}

// The README's own command: a new account has rules for a kind that it has used nothing of.
TEST_F(Commands, AnAccountThatHasRunNothingIsShown) {
  const json fresh{{"account", "nlp"},
                   {"share", 1},
                   {"quota", {{"gpu", 64}}},
                   {"limit", {{"gpu", 128}}},
                   {"usage", json::object()},
                   {"warnings", {"account nlp is guaranteed 64 gpu devices, and the cluster has 8"}}};
  fake_.on("POST /api/v1/accounts/nlp", 200, fresh.dump());
  const auto set = program_.run({"accounts", "set", "nlp", "--quota", "gpu=64", "--limit", "gpu=128"});
  EXPECT_EQ(set.status, 0) << set.err;
  EXPECT_THAT(
      set.out,
      HasSubstr("nlp          1  gpu      0         0     64    128        0          0.0       0.0"));
  EXPECT_THAT(set.err, HasSubstr("warning: account nlp is guaranteed 64 gpu devices, and the cluster has 8"));
  fake_.on("GET /api/v1/accounts", json{{"accounts", {fresh}}});
  EXPECT_EQ(program_.run({"accounts"}).status, 0);
  fake_.on("DELETE /api/v1/accounts/nlp%2Fbert", 204, "");
  const auto gone = program_.run({"accounts", "delete", "nlp/bert"});
  EXPECT_EQ(gone.status, 0) << gone.err;
  EXPECT_EQ(gone.out, "account nlp/bert is deleted\n");
}

TEST_F(Commands, OperatorsHoldAndPrioritiseJobs) {
  fake_.on("POST /api/v1/jobs/12/hold", 200, test::job_json(12, "queued").dump());
  fake_.on("POST /api/v1/jobs/12/priority", 200, test::job_json(12, "queued").dump());
  EXPECT_THAT(program_.run({"hold", "12"}).out, HasSubstr("job 12 is queued, priority 50"));
  program_.run({"priority", "80", "12"});
  EXPECT_EQ(json::parse(fake_.asked("POST /api/v1/jobs/12/priority").at(0).body), json({{"priority", 80}}));
  EXPECT_EQ(program_.run({"priority", "101", "12"}).status, 2);
}

TEST_F(Commands, ListPassesItsFiltersOn) {
  fake_.on("GET /api/v1/jobs", json{{"jobs", {test::job_json(12, "running")}}, {"total", 1}});
  const auto ran = program_.run(
      {"list", "--state", "running,queued", "--label", "team:nlp", "--name", "a b", "--account", "nlp"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(
      fake_.asked("GET /api/v1/jobs").at(0).target,
      "/api/v1/jobs?state=running%2Cqueued&name=a%20b&label=team%3Anlp&account=nlp&order=newest&limit=50");
  EXPECT_THAT(ran.out, HasSubstr("JOB  NAME        STATE    DEVICES"));
  EXPECT_THAT(ran.out, HasSubstr(" 12  quickstart  running  2 cpu    120/2,000"));
  EXPECT_THAT(ran.out, Not(HasSubstr("\x1b")));
}

TEST_F(Commands, ListTurnsPages) {
  fake_.on("GET /api/v1/jobs",
           json{{"jobs", {test::job_json(12, "running")}}, {"total", 3}, {"next_page_token", "t1"}});
  fake_.on("GET /api/v1/jobs",
           json{{"jobs", {test::job_json(11, "failed")}}, {"total", 3}, {"next_page_token", "t2"}});
  const auto ran = program_.run({"list", "--limit", "2", "--json"});
  EXPECT_EQ(json::parse(ran.out)["jobs"].size(), 2u);
  ASSERT_EQ(fake_.asked("GET /api/v1/jobs").size(), 2u);
  EXPECT_EQ(fake_.asked("GET /api/v1/jobs")[1].target, "/api/v1/jobs?order=newest&limit=1&page_token=t1");
}

TEST_F(Commands, EventsTurnPages) {
  const auto page = [](int id) {
    return json{{"events", {{{"id", id}, {"time_ms", 0}, {"type", "job_queued"}, {"text", "queued"}}}}};
  };
  json first = page(1);
  first["next_page_token"] = "t1";
  fake_.on("GET /api/v1/jobs/12/events", first);
  fake_.on("GET /api/v1/jobs/12/events", page(2));
  EXPECT_EQ(json::parse(program_.run({"events", "12", "--json"}).out)["events"].size(), 2u);
  EXPECT_EQ(fake_.asked("GET /api/v1/jobs/12/events").at(1).target,
            "/api/v1/jobs/12/events?limit=1000&page_token=t1");
}

TEST_F(Commands, ATerminalGetsColourAndFittingLinesUnlessToldNot) {
  json job = test::job_json(12, "running");
  job["name"] = std::string(150, 'n');
  fake_.on("GET /api/v1/jobs", json{{"jobs", {job}}, {"total", 1}});
  program_.environment["TERM"] = "xterm";
  EXPECT_THAT(program_.run_on_terminal({"list"}).out, HasSubstr("\x1b[34mrunning\x1b[0m"));
  program_.environment["NO_COLOR"] = "1";
  const std::string plain = program_.run_on_terminal({"list"}).out;
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  EXPECT_THAT(plain, HasSubstr("nnn… "));
  std::istringstream lines(plain);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(cli::display_width(line), 81) << line;  // and \r
}

TEST_F(Commands, ShowTellsAllOfAJob) {
  json job = test::job_json(12, "running");
  job["source"] = {{"repository", "https://host/r.git"},
                   {"commit", std::string(40, 'a')},
                   {"path", "x.yaml"},
                   {"dirty", true}};
  job["attempts"] = {{{"number", 1},
                      {"started_ms", 2000},
                      {"ended_ms", 65000},
                      {"end", "node_lost"},
                      {"reason", "node-2 is lost"},
                      {"first_step", 0},
                      {"last_step", 100},
                      {"tasks", {{{"rank", 0}, {"node", "node-1"}, {"device", 0}, {"state", "exited"}}}}}};
  fake_.on("GET /api/v1/jobs/12", job);
  const auto ran = program_.run({"show", "12"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  job["devices"] = 16;
  job["spec"] = {{"parallel", {{"tensor", 2}, {"pipeline", 4}}}};
  fake_.on("GET /api/v1/jobs/13", job);
  EXPECT_THAT(program_.run({"show", "13"}).out, HasSubstr("tensor 2 × pipeline 4 × data 2"));
  EXPECT_THAT(ran.out, Not(HasSubstr("pipeline")));
  for (const char* text :
       {"job 12  quickstart  running",
        "commit aaaaaaaaaaaa of https://host/r.git, x.yaml (with uncommitted changes)", "team:nlp",
        "2 × cpu, 1 a node", "120/2,000", "train/loss 5.125", "eval/gain_over_unigram 0.12 of at least 0.4",
        "1m03s", "node_lost", "0 on node-1 device 0", "node-2 is lost"})
    EXPECT_THAT(ran.out, HasSubstr(text));
}

TEST_F(Commands, NothingAJobSaysReachesTheTerminalRaw) {
  json job = test::job_json(12, "queued");
  job["reason"] = "\x1b[2Jboo\r\nnew line";
  fake_.on("GET /api/v1/jobs", json{{"jobs", {job}}, {"total", 1}});
  fake_.on("GET /api/v1/jobs/12", job);
  for (const auto& ran : {program_.run({"list"}), program_.run({"show", "12"})}) {
    EXPECT_THAT(ran.out, HasSubstr("?[2Jboo??new line"));
    EXPECT_THAT(ran.out, Not(HasSubstr("\x1b")));
  }
}

TEST_F(Commands, NodesAndOneNode) {
  const json node = {{"id", "node-1"},
                     {"address", "127.0.0.1"},
                     {"state", "up"},
                     {"agent_version", "0.1.0"},
                     {"last_seen_ms", 0},
                     {"devices",
                      {{{"index", 0},
                        {"kind", "cpu"},
                        {"model", "Xeon"},
                        {"memory_bytes", 1 << 30},
                        {"health", ""},
                        {"job", 12}},
                       {{"index", 1},
                        {"kind", "cpu"},
                        {"model", "Xeon"},
                        {"memory_bytes", 0},
                        {"health", "hot"},
                        {"job", nullptr}}}}};
  fake_.on("GET /api/v1/nodes", json{{"nodes", {node}}});
  fake_.on("GET /api/v1/nodes/node-1", node);
  EXPECT_THAT(program_.run({"nodes"}).out,
              HasSubstr("node-1  up     1 of 2 cpu busy, 1 unhealthy          127.0.0.1"));
  const std::string one = program_.run({"nodes", "node-1"}).out;
  EXPECT_THAT(one, HasSubstr("1.0 GiB   12  good"));
  EXPECT_THAT(one, HasSubstr("hot"));
}

TEST_F(Commands, WhyTellsBlockersStartAndRemedies) {
  const auto blocker = [](const char* sentence) { return json{{"code", "devices"}, {"sentence", sentence}}; };
  const json start = {{"earliest_ms", 0},
                      {"expected_ms", 7'500'000},
                      {"latest_ms", nullptr},
                      {"reserved_ms", nullptr},
                      {"note", "does not start within 30d"}};
  const json sooner = {{"change", "devices"},
                       {"sentence", "with 4 devices: at once"},
                       {"set", {{"resources.devices", 4}, {"resources.per_node", 2}}}};
  const json why = {
      {"job", 12},          {"state", "queued"},
      {"now_ms", 0},        {"start", start},
      {"sooner", {sooner}}, {"blockers", {blocker("needs 8 free"), blocker("job 3\x1b holds them")}}};
  fake_.on("GET /api/v1/jobs/12/why", why);
  const auto ran = program_.run({"why", "12"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "job 12  queued\n\nwhy it waits\n  needs 8 free\n  job 3? holds them\n\nwhen it starts\n"
            "  expected  in 2h05m\n  earliest  now\n  latest    unknown\n"
            "  note      does not start within 30d\n\nwhat would start it sooner\n"
            "CHANGE                   IN THE SPEC\n"
            "with 4 devices: at once  resources.devices: 4, resources.per_node: 2\n");
  EXPECT_EQ(json::parse(program_.run({"why", "12", "--json"}).out), why);
  fake_.on("GET /api/v1/jobs/13/why", json{{"job", 13}, {"state", "running"}, {"start", nullptr}});
  EXPECT_EQ(program_.run({"why", "13"}).out, "job 13  running\nIt does not wait.\n");
}

TEST_F(Commands, QueueShowsWhoseTurnItIs) {
  const auto job = [](int position, const json& reserved, const json& guaranteed) {
    return json{{"position", position},
                {"job", position + 10},
                {"name", "quickstart"},
                {"account", "nlp/bert"},
                {"devices", 2},
                {"walltime_seconds", 3600},
                {"priority", 50},
                {"age_points", 1.5},
                {"account_factors", {36000.0, 5400.0}},
                {"waited_seconds", 90},
                {"guaranteed_by", guaranteed},
                {"reserved_ms", reserved},
                {"blocker", "devices"},
                {"reason", "needs 2 free"}};
  };
  const json held{{"job", 20},     {"name", "sweep"}, {"account", "default"},   {"devices", 8},
                  {"kind", "gpu"}, {"priority", 10},  {"waited_seconds", 7500}, {"reason", "is held"}};
  const json queue{{"kind", "gpu"}, {"total", 3}, {"jobs", {job(1, 0, "nlp"), job(2, nullptr, nullptr)}}};
  const json apart{{"total", 1}, {"jobs", {held}}};
  fake_.on("GET /api/v1/queue", json{{"policy", "fair-share"}, {"queues", {queue}}, {"apart", apart}});
  fake_.on("GET /api/v1/queue", json{{"policy", "fair-share"}, {"queues", {queue}}, {"apart", apart}});
  fake_.on("GET /api/v1/queue", json{{"policy", "fifo"},
                                     {"queues", json::array()},
                                     {"apart", {{"total", 0}, {"jobs", json::array()}}}});
  const auto ran = program_.run({"queue", "--kind", "gpu", "--limit", "2"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(fake_.asked("GET /api/v1/queue").at(0).target, "/api/v1/queue?kind=gpu&limit=2");
  EXPECT_EQ(ran.out,
            "policy fair-share\n\ngpu: 3 jobs waiting\n"
            "   JOB  NAME        ACCOUNT   DEVICES  WALLTIME  PRIORITY   AGE    FACTOR  GUARANTEED  WAITED  "
            "TURN      BLOCKER  REASON\n"
            "1   11  quickstart  nlp/bert        2     1h00m        50  +1.5  10.0/1.5  yes          1m30s  "
            "by 0s     devices  needs 2 free\n"
            "2   12  quickstart  nlp/bert        2     1h00m        50  +1.5  10.0/1.5  no           1m30s  "
            "backfill  devices  needs 2 free\n"
            "--limit shows more\n"
            "\napart: 1 job held or after others\n"
            "JOB  NAME   ACCOUNT  DEVICES  PRIORITY  WAITED  REASON\n"
            " 20  sweep  default  8 gpu          10   2h05m  is held\n");
  const std::string narrow = program_.run_on_terminal({"queue"}).out;  // 80 columns
  EXPECT_THAT(narrow, HasSubstr("ACCOUNT   DEVICES  PRIORITY"));
  EXPECT_THAT(narrow, HasSubstr("backfill  devices"));
  EXPECT_THAT(narrow, Not(HasSubstr("needs 2 free")));
  EXPECT_THAT(narrow, Not(HasSubstr("WALLTIME")));
  EXPECT_EQ(program_.run({"queue"}).out, "No job waits.\n");
}

TEST_F(Commands, NodesSayWhyAndUntilWhenTheyAreDrained) {
  fake_.on("GET /api/v1/nodes",
           json{{"nodes",
                 {{{"id", "node-1"},
                   {"state", "up"},
                   {"labels", {{"partition", "nlp"}, {"rack", "r1"}}},
                   {"drain", {{"reason", "new fans"}, {"from_ms", nullptr}, {"until_ms", 1772366400000}}},
                   {"reservation",
                    {{"account", "nlp"}, {"reason", ""}, {"from_ms", 1772366400000}, {"until_ms", nullptr}}},
                   {"devices", json::array()}}}}});
  const std::string out = program_.run({"nodes"}).out;
  EXPECT_THAT(out, HasSubstr("up, drained until 2026-03-01T12:00:00.000Z: new fans, "
                             "reserved for nlp from 2026-03-01T12:00:00.000Z"));
  EXPECT_THAT(out, HasSubstr("partition=nlp rack=r1"));
}

TEST_F(Commands, NodeOperations) {
  for (const char* operation : {"drain", "resume", "reserve", "unreserve", "labels"})
    fake_.on(std::string("POST /api/v1/nodes/node-1/") + operation, json{{"id", "node-1"}});
  const auto body = [&](const std::string& operation) {
    return json::parse(fake_.asked("POST /api/v1/nodes/node-1/" + operation).at(0).body);
  };
  EXPECT_EQ(
      program_.run({"nodes", "drain", "node-1", "--reason", "new fans", "--until", "2026-03-01T12:00Z"}).out,
      "node-1 is drained: its jobs go on and nothing new starts\n");
  EXPECT_EQ(body("drain"), (json{{"reason", "new fans"}, {"from_ms", nullptr}, {"until_ms", 1772366400000}}));
  EXPECT_EQ(program_.run({"nodes", "resume", "node-1"}).out, "node-1 takes work again\n");
  EXPECT_EQ(body("resume"), json::object());
  EXPECT_EQ(
      program_.run({"nodes", "reserve", "node-1", "--account", "nlp", "--from", "2026-03-01T12:00Z"}).out,
      "node-1 is reserved for account nlp\n");
  EXPECT_EQ(body("reserve"),
            (json{{"account", "nlp"}, {"reason", ""}, {"from_ms", 1772366400000}, {"until_ms", nullptr}}));
  EXPECT_EQ(program_.run({"nodes", "reserve", "node-1"}).status, 2);
  EXPECT_EQ(program_.run({"nodes", "unreserve", "node-1"}).out, "node-1 is open to every account\n");
  EXPECT_EQ(body("unreserve"), json::object());
  EXPECT_EQ(program_.run({"nodes", "label", "node-1", "partition=nlp", "rack-"}).out, "node-1 is labelled\n");
  EXPECT_EQ(body("labels"), (json{{"labels", {{"partition", "nlp"}, {"rack", nullptr}}}}));
  EXPECT_EQ(program_.run({"nodes", "drain", "node-1", "--from", "noon"}).status, 2);
  EXPECT_EQ(program_.run({"nodes", "label", "node-1", "partition"}).status, 2);
}

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
  fake_.on("GET /api/v1/jobs/12", test::job_json(12, "succeeded"));
  const auto ran =
      program_.run({"logs", "12", "--rank", "1", "--attempt", "2", "--stdout", "--follow", "--tail", "4B"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "one\ntwo\n");
  const auto asked = fake_.asked("GET /api/v1/jobs/12/logs");
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0].target, "/api/v1/jobs/12/logs?attempt=2&rank=1&stream=stdout&tail=4");
  EXPECT_EQ(asked[1].target, "/api/v1/jobs/12/logs?attempt=2&rank=1&stream=stdout&offset=104");
  EXPECT_EQ(asked[2].target, "/api/v1/jobs/12/logs?attempt=2&rank=1&stream=stdout&offset=108");
}

TEST_F(Commands, WhatIsNotACoordinatorIsSaid) {
  fake_.on("GET /api/v1/jobs", 200, "<html>");
  const auto ran = program_.run({"list"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("is this a Podium coordinator?"));
}

TEST_F(Commands, ValidateCanAskTheServer) {
  fake_.on("POST /api/v1/validate", 422,
           R"({"status":422,"detail":"1 problem","errors":[{"message":"needs 9 gpu devices","where":""}]})");
  const auto ran = program_.run({"validate", "--server", write("a.yaml", kSpec)});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("needs 9 gpu devices"));
}

}  // namespace
}  // namespace podium
