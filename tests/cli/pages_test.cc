// What jobs and nodes are shown as.
#include <sstream>

#include "cli/terminal.h"
#include "tests/cli/command_fixture.h"

namespace podium {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Commands, ListPassesItsFiltersOn) {
  fake_.on("GET /api/v1/jobs", json{{"jobs", {test::job_json(12, "running")}}, {"total", 1}});
  const auto ran = program_.run(
      {"list", "--state", "running,queued", "--label", "team:nlp", "--name", "a b", "--account", "nlp"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(fake_.asked("GET /api/v1/jobs").at(0).target,
            "/api/v1/jobs?state=running%2Cqueued&name=a%20b&label=team%3Anlp&account=nlp&sort=-id&limit=50");
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
  EXPECT_EQ(fake_.asked("GET /api/v1/jobs")[1].target, "/api/v1/jobs?sort=-id&limit=1&page_token=t1");
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

// A checkpoint that was saved before the job ended stood below its end.
TEST_F(Commands, EventsStandInTheOrderOfTheirTimes) {
  const auto event = [](int id, int time, const char* type) {
    return json{{"id", id}, {"time_ms", time}, {"type", type}, {"text", ""}};
  };
  fake_.on("GET /api/v1/jobs/12/events",
           json{{"events",
                 {event(1, 1000, "job_queued"), event(2, 9000, "job_succeeded"),
                  event(3, 8000, "checkpoint_saved"), event(4, 9000, "target_reached")}}});
  const json events = json::parse(program_.run({"events", "12", "--json"}).out)["events"];
  std::vector<int> order;
  for (const json& one : events) order.push_back(one["id"]);
  EXPECT_THAT(order, ::testing::ElementsAre(1, 3, 2, 4));
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
  job["text"] = {{"tokens", 812344}, {"sentences", 31021}, {"xxh3", "0123456789abcdef"}};
  fake_.on("GET /api/v1/jobs/12", job);
  fake_.on("GET /api/v1/jobs/12/ledger",
           {{"energy",
             {{"joules", 7200.0},
              {"covered", 1.0},
              {"shared", 0.0},
              {"joules_per_sample", nullptr},
              {"joules_to_target", nullptr}}},
            {"cost", {{"currency", "EUR"}, {"amount", 1.5}, {"to_target", nullptr}}}});
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
        "text          812,344 tokens in 31,021 sentences, XXH3 0123456789abcdef\n", "2 × cpu, 1 a node",
        "120/2,000", "train/loss 5.125", "eval/gain_over_unigram 0.12 of at least 0.4",
        "expected      its curve has 3 points; 6 are needed\n", "1m03s", "node lost", "0 on node-1 device 0",
        "node-2 is lost", "energy        7.2 kJ\n", "cost          1.50 EUR\n"})
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

TEST_F(Commands, NodesSayWhyAndUntilWhenTheyAreDrained) {
  fake_.on("GET /api/v1/nodes",
           json{{"nodes",
                 {{{"id", "node-1"},
                   {"state", "up"},
                   {"labels", {{"partition", "nlp"}, {"rack", "r1"}}},
                   {"drain", {{"reason", "new fans"}, {"from_ms", nullptr}, {"until_ms", 4102488000000}}},
                   {"reservation",
                    {{"account", "nlp"}, {"reason", ""}, {"from_ms", 4102488000000}, {"until_ms", nullptr}}},
                   {"devices", json::array()}}}}});
  const std::string out = program_.run({"nodes"}).out;
  EXPECT_THAT(out, HasSubstr("up, drained until 2100-01-01 12:00: new fans, "
                             "to be reserved for nlp from 2100-01-01 12:00"));
  EXPECT_THAT(out, HasSubstr("partition=nlp rack=r1"));
}

// Restarts of every kind were told as if they counted against the limit; 16 ranks took 330 characters.
TEST_F(Commands, ShowTellsRestartsTimesPlacesAndTheCommand) {
  json job = test::job_json(12, "running");
  job["held"] = true;
  job["ran_seconds"] = 100;
  job["restart_counts"]["failures"] = 1;
  job["restarts_used"] = 1;
  job["restart_counts"]["preemptions"] = 2;
  job["restart_counts"]["resizes"] = 1;
  job["spec"] = {{"command", {"python3", "train.py", "--name", "it's a b"}}};
  json tasks = json::array();
  for (int rank = 0; rank < 16; ++rank)
    tasks.push_back({{"rank", rank}, {"node", rank < 8 ? "gpu-1" : "gpu-2"}, {"device", rank % 8}});
  tasks.push_back({{"rank", 16}, {"node", "gpu-3"}, {"device", 5}});
  job["attempts"] = {{{"number", 4}, {"started_ms", 2000}, {"ended_ms", 3000}, {"tasks", tasks}}};
  fake_.on("GET /api/v1/jobs/12", job);
  fake_.on("GET /api/v1/jobs/12/ledger", {{"energy", nullptr}, {"cost", nullptr}});
  const std::string out = program_.run({"show", "12"}).out;
  EXPECT_THAT(out, HasSubstr("running, held\n"));
  EXPECT_THAT(out, HasSubstr("restarts      1 of at most 5 after failures; 2 preemptions, 1 resize\n"));
  EXPECT_THAT(out, HasSubstr("command       python3 train.py --name 'it'\\''s a b'\n"));
  EXPECT_THAT(out, HasSubstr("nodes         gpu-1, gpu-2, gpu-3\n"));
  EXPECT_THAT(out, HasSubstr("started       1970-01-01 00:00, "));
  EXPECT_THAT(out, HasSubstr("0–7 on gpu-1 devices 0–7; 8–15 on gpu-2 devices 0–7; 16 on gpu-3 device 5"));
  EXPECT_THAT(out, Not(HasSubstr("steps")));
  EXPECT_THAT(out, Not(HasSubstr("energy"))) << "absent is not zero";
}

// RUN TIME was the time since the first start, also while the job was queued.
TEST_F(Commands, AQueuedJobDoesNotRun) {
  json job = test::job_json(12, "queued");
  job["ran_seconds"] = 70;
  job["held"] = true;
  fake_.on("GET /api/v1/jobs", json{{"jobs", {job}}, {"total", 1}});
  const std::string out = program_.run({"list"}).out;
  EXPECT_THAT(out, HasSubstr("queued, held"));
  EXPECT_THAT(out, HasSubstr("1m10s"));
}

}  // namespace
}  // namespace podium
