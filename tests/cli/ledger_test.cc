// podium ledger: what a job's time is said to have been spent on.
#include "tests/cli/command_fixture.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json total(const char* kind, const char* detail, int times, std::int64_t wall_ms, int devices) {
  return {{"kind", kind},
          {"detail", detail},
          {"times", times},
          {"wall_ms", wall_ms},
          {"device_ms", wall_ms * devices},
          {"longest_ms", wall_ms / times},
          {"longest_from_ms", 0}};
}

json piece(const char* kind, std::int64_t from_ms, std::int64_t to_ms, int attempt, int devices) {
  return {{"kind", kind},          {"detail", ""},         {"from_ms", from_ms},
          {"to_ms", to_ms},        {"attempt", attempt},   {"devices", devices},
          {"first_step", nullptr}, {"last_step", nullptr}, {"merged", 1}};
}

json ledger() {
  return {{"job", 12},
          {"now_ms", 0},
          {"final", true},
          {"devices", 4},
          {"held_device_ms", 4 * 800'000},
          {"goodput", 0.75},
          {"pieces",
           {piece("waiting", 0, 200'000, 0, 4), piece("lost", 200'000, 350'000, 1, 4),
            piece("stopping", 350'000, 400'000, 1, 4), piece("stepping", 400'000, 1'000'000, 2, 4)}},
          {"totals",
           {total("waiting", "devices", 1, 150'000, 4), total("waiting", "queue", 1, 50'000, 4),
            total("stepping", "", 1, 600'000, 4), total("lost", "", 1, 150'000, 4),
            total("stopping", "node_lost", 1, 50'000, 4)}}};
}

TEST_F(Commands, ALedgerTellsWhereTheTimeOfAJobWent) {
  fake_.on("GET /api/v1/jobs/12/ledger", ledger());
  EXPECT_EQ(
      program_.run({"ledger", "12"}).out,
      "job 12 held 4 devices for 13m20s; 75 % of that time went into steps that count. Most of the rest was "
      "steps taken again: 2m30s.\n"
      "\n"
      "BUCKET               TIME  SHARE                   DEVICE HOURS  TIMES  LONGEST\n"
      "waiting             3m20s   20 %  ████▊                    0.22      2    2m30s\n"
      "  devices           2m30s   15 %                           0.17      1    2m30s\n"
      "  queue               50s  5.0 %                           0.06      1      50s\n"
      "steps that count   10m00s   60 %  ██████████████▍          0.67      1   10m00s\n"
      "steps taken again   2m30s   15 %  ███▋                     0.17      1    2m30s\n"
      "stopping              50s  5.0 %  █▎                       0.06      1      50s\n"
      "  node lost           50s  5.0 %                           0.06      1      50s\n");
  EXPECT_EQ(json::parse(program_.run({"ledger", "12", "--json"}).out), ledger());
}

TEST_F(Commands, ALedgerTellsWhatAJobDrewAndCostWhereThatIsKnown) {
  json measured = ledger();
  measured["energy"] = {{"joules", 5'400'000.0},  {"covered", 0.975},         {"shared", 0.0},
                        {"samples", 1'000'000.0}, {"joules_per_sample", 5.4}, {"joules_to_target", 1800.0}};
  measured["cost"] = {{"currency", "USD"},
                      {"amount", 12.346},
                      {"to_target", 0.05},
                      {"parts", json::array()},
                      {"unpriced", json::array()}};
  fake_.on("GET /api/v1/jobs/12/ledger", measured);
  const std::string out = program_.run({"ledger", "12"}).out;
  EXPECT_THAT(out, HasSubstr("\nenergy  1.5 kWh (of 98 % of the device time); 5.4 J a sample; 1.8 kJ to the "
                             "target\ncost    12.35 USD; 0.05 USD to the target\n"));
}

TEST_F(Commands, ALedgerSaysWhyEnergyOrCostIsNotKnown) {
  json unknown = ledger();
  unknown["energy"] = {{"joules", nullptr},
                       {"covered", 0.0},
                       {"shared", 0.5},
                       {"samples", nullptr},
                       {"joules_per_sample", nullptr},
                       {"joules_to_target", nullptr}};
  unknown["cost"] = {{"currency", "USD"},
                     {"amount", nullptr},
                     {"to_target", nullptr},
                     {"parts", json::array()},
                     {"unpriced", {"gpu NVIDIA H200"}}};
  fake_.on("GET /api/v1/jobs/12/ledger", unknown);
  const std::string out = program_.run({"ledger", "12"}).out;
  EXPECT_THAT(out,
              HasSubstr("energy  not known: for 50 % of the device time other jobs shared the processors\n"));
  EXPECT_THAT(out, HasSubstr("cost    not known: the coordinator has no --price for gpu NVIDIA H200\n"));
  unknown["energy"] = unknown["cost"] = nullptr;
  fake_.on("GET /api/v1/jobs/12/ledger", unknown);
  program_.run({"ledger", "12"});
  EXPECT_THAT(program_.run({"ledger", "12"}).out, testing::Not(HasSubstr("energy"))) << "absent is not zero";
}

TEST_F(Commands, ALedgerTellsOfEachAttempt) {
  fake_.on("GET /api/v1/jobs/12/ledger", ledger());
  const std::string out = program_.run({"ledger", "12", "--attempts"}).out;
  EXPECT_THAT(out, HasSubstr("attempt 1, 4 devices, 3m20s\nBUCKET"));
  EXPECT_THAT(out, HasSubstr("steps taken again  2m30s   75 %"));
  EXPECT_THAT(out, HasSubstr("attempt 2, 4 devices, 10m00s\n"));
}

TEST_F(Commands, ALedgerOfAJobThatHasHeldNothingSaysSo) {
  json waits = ledger();
  waits["final"] = false;
  waits["goodput"] = nullptr;
  waits["totals"] = {total("waiting", "devices", 1, 150'000, 4)};
  json runs = waits;
  runs["totals"] = {total("running", "", 1, 5'000, 1)};
  fake_.on("GET /api/v1/jobs/12/ledger", waits);
  fake_.on("GET /api/v1/jobs/12/ledger", runs);
  EXPECT_THAT(program_.run({"ledger", "12"}).out,
              HasSubstr("job 12 has held no device so far; it waited 2m30s.\n"));
  EXPECT_THAT(program_.run({"ledger", "12"}).out,
              HasSubstr("job 12 held 1 device for 5.0s so far; it did not report its steps.\n"));
}

TEST_F(Commands, LedgersOfManyJobsAreATable) {
  json row{{"key", "nlp"},
           {"name", ""},
           {"jobs", 3},
           {"held_device_ms", 36'000'000},
           {"goodput", 0.9},
           {"totals",
            {{{"kind", "stepping"}, {"detail", ""}, {"device_ms", 27'000'000}},
             {{"kind", "running"}, {"detail", ""}, {"device_ms", 6'000'000}},
             {{"kind", "launching"}, {"detail", ""}, {"device_ms", 1'800'000}},
             {{"kind", "loading"}, {"detail", ""}, {"device_ms", 1'200'000}},
             {{"kind", "waiting"}, {"detail", "queue"}, {"device_ms", 3'600'000}}}}};
  fake_.on("GET /api/v1/ledger",
           json{{"by", "account"}, {"now_ms", 0}, {"count", 1}, {"rows", {row}}, {"all", row}});
  const auto ran = program_.run(
      {"ledger", "--by", "account", "--account", "nlp", "--from", "2026-03-01", "--to", "2026-03-01"});
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(fake_.asked("GET /api/v1/ledger").at(0).target,
            "/api/v1/ledger?by=account&account=nlp&from_ms=1772323200000&to_ms=1772409600000");
  EXPECT_EQ(ran.out,
            "ACCOUNT  JOBS  HELD, HOURS  GOODPUT  STEPS  AGAIN  START  EVALUATE  SAVE  STOP   RUN  UNKNOWN  "
            "WAITED, HOURS\n"
            "nlp         3        10.00     90 %   75 %      –  8.3 %         –     –     –  17 %        –   "
            "        1.00\n"
            "all         3        10.00     90 %   75 %      –  8.3 %         –     –     –  17 %        –   "
            "        1.00\n");
  EXPECT_THAT(program_.run({"ledger", "--from", "March"}).err,
              HasSubstr("\"March\" is no day since 1970; write it as 2026-03-01"));
  EXPECT_NE(program_.run({"ledger", "12", "--by", "day"}).status, 0);
}

}  // namespace
}  // namespace podium
