// Who waits, in which order, and why.
#include "tests/cli/command_fixture.h"

namespace podium {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Commands, WhyTellsBlockersStartAndRemedies) {
  const auto blocker = [](const char* sentence) { return json{{"code", "devices"}, {"sentence", sentence}}; };
  const json start = {{"earliest_ms", 0},
                      {"expected_ms", 7'500'000},
                      {"latest_ms", nullptr},
                      {"reserved_ms", nullptr},
                      {"note", "does not start within 30d"}};
  const json sooner = {{"change", "devices"},
                       {"sentence", "submitted again with 4 devices: at once"},
                       {"set", {{"resources.devices", 4}, {"resources.per_node", 2}}}};
  const json higher = {
      {"change", "priority"}, {"sentence", "with priority 51: at once"}, {"set", {{"priority", 51}}}};
  const json why = {{"job", 12},
                    {"state", "queued"},
                    {"now_ms", 0},
                    {"start", start},
                    {"sooner", {higher, sooner}},
                    {"blockers", {blocker("needs 8 free"), blocker("job 3\x1b holds them")}}};
  fake_.on("GET /api/v1/jobs/12/why", why);
  const auto ran = program_.run({"why", "12"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "job 12  queued\n\nwhy it waits\n  needs 8 free\n  job 3? holds them\n\nwhen it starts\n"
            "  expected  in 2h05m\n  earliest  now\n  latest    unknown\n"
            "  note      does not start within 30d\n\nwhat would start it sooner\n"
            "CHANGE                                   HOW\n"
            "with priority 51: at once                podium priority 51 12\n"
            "submitted again with 4 devices: at once  cancel it, submit it with resources.devices: 4, "
            "resources.per_node: 2\n");
  EXPECT_EQ(json::parse(program_.run({"why", "12", "--json"}).out), why);
  fake_.on("GET /api/v1/jobs/13/why", json{{"job", 13}, {"state", "running"}, {"start", nullptr}});
  EXPECT_EQ(program_.run({"why", "13"}).out, "job 13  running\nIt does not wait.\n");
  const json fenced = {{"job", 14},
                       {"state", "starting"},
                       {"start", nullptr},
                       {"sooner", json::array()},
                       {"blockers", {blocker("starts in a minute")}}};
  fake_.on("GET /api/v1/jobs/14/why", fenced);
  EXPECT_EQ(program_.run({"why", "14"}).out, "job 14  starting\n\nwhy it waits\n  starts in a minute\n");
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
                {"walltime_points", 1},
                {"score", 50.5},
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
  EXPECT_EQ(
      ran.out,
      "policy fair-share\n\ngpu: 3 jobs waiting\n"
      "   JOB  NAME        ACCOUNT   DEVICES  WALLTIME  PRIORITY  BY AGE  BY WALLTIME  SCORE    FACTOR  "
      "GUARANTEED  WAITED  TURN      BLOCKER  REASON\n"
      "1   11  quickstart  nlp/bert        2     1h00m        50    +1.5         -1.0   50.5  10.0/1.5  "
      "yes          1m30s  now       devices  needs 2 free\n"
      "2   12  quickstart  nlp/bert        2     1h00m        50    +1.5         -1.0   50.5  10.0/1.5  "
      "no           1m30s  backfill  devices  needs 2 free\n"
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

}  // namespace
}  // namespace podium
