// podium services: what is said of services and of their replicas, and how one is stopped.
#include "tests/cli/command_fixture.h"

namespace podium {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json service() {
  const json first{{"job", 4},
                   {"experiment", 2},
                   {"attempt", 1},
                   {"node", "node-1"},
                   {"state", "running"},
                   {"paused", false},
                   {"ready", false},
                   {"ready_since_ms", nullptr},
                   {"queue_ms", nullptr},
                   {"requests_per_second", nullptr},
                   {"in_flight", nullptr},
                   {"reason", ""}};
  json second = first;
  second.update(
      {{"job", 5},
       {"attempt", nullptr},
       {"node", nullptr},
       {"state", "queued"},
       {"paused", true},
       {"reason", "is paused by its service: the replicas of experiment 1 are replaced one by one"}});
  json old = first;
  old.update({{"job", 1},
              {"experiment", 1},
              {"ready", true},
              {"ready_since_ms", nullptr},
              {"queue_ms", 12.25},
              {"requests_per_second", 81.5},
              {"in_flight", 3}});
  return {{"name", "answers"},
          {"url", "http://127.0.0.1:7071/answers"},
          {"experiment", 2},
          {"min", 1},
          {"max", 2},
          {"queue_limit_ms", 20},
          {"active", 2},
          {"ready", 1},
          {"in_flight", 3},
          {"requests_per_second", 81.5},
          {"queue_ms", 12.25},
          {"roll", {{"state", "rolling"}, {"from", {1}}, {"reason", "job 4 is not ready yet"}}},
          {"failure", nullptr},
          {"replicas", {first, second, old}}};
}

TEST_F(Commands, ServicesAreListedWithHowManyAnswerAndWhere) {
  fake_.on("GET /api/v1/services", json{{"address", "http://127.0.0.1:7071"}, {"services", {service()}}});
  const auto ran = program_.run({"services"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(
      ran.out,
      "SERVICE  EXPERIMENT  READY  NEEDED   OF     QUEUE  REQUESTS/S  ADDRESS                        STATE\n"
      "answers           2      1       2  1–2  12.25 ms        81.5  http://127.0.0.1:7071/answers  rolling "
      "from 1: job 4 is not ready yet\n");
  EXPECT_EQ(json::parse(program_.run({"services", "--json"}).out).at("services").at(0), service());
}

TEST_F(Commands, WhereThereIsNoServiceItIsSaidHowToMakeOne) {
  fake_.on("GET /api/v1/services", json{{"address", nullptr}, {"services", json::array()}});
  EXPECT_THAT(program_.run({"services"}).out,
              HasSubstr("No services. A spec with \"task: serve\" makes one"));
}

TEST_F(Commands, AServiceThatLostAReplicaSaysWhy) {
  json lost = service();
  lost["roll"] = {{"state", "none"}, {"from", json::array()}, {"reason", ""}};
  lost["failure"] = {{"job", 4}, {"experiment", 2}, {"reason", "exit code 65: no such model"}, {"at_ms", 1}};
  fake_.on("GET /api/v1/services", json{{"address", nullptr}, {"services", {lost}}});
  EXPECT_THAT(program_.run({"services"}).out, HasSubstr("job 4 failed: exit code 65: no such model"));
}

TEST_F(Commands, TheReplicasOfAServiceAreShown) {
  fake_.on("GET /api/v1/services/answers", service());
  const auto ran = program_.run({"services", "show", "answers"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("  5           2  paused   –          no"));
  EXPECT_THAT(ran.out, HasSubstr("is paused by its service: the replicas of experiment 1"));
  EXPECT_THAT(ran.out, HasSubstr("  4           2  running  node-1     no"));
  EXPECT_THAT(ran.out, HasSubstr("12.25 ms        81.5          3"));
}

TEST_F(Commands, AServiceIsStoppedByItsName) {
  fake_.on("DELETE /api/v1/services/answers", 202, R"({"name":"answers","jobs":[1,4,5]})");
  const auto ran = program_.run({"services", "stop", "answers"});
  EXPECT_EQ(ran.out, "service answers is being stopped: what it has accepted is answered first\n") << ran.err;
  fake_.on("DELETE /api/v1/services/none", 404,
           R"({"title":"Not found","status":404,"detail":"there is no service none"})");
  const auto none = program_.run({"services", "stop", "none"});
  EXPECT_NE(none.status, 0);
  EXPECT_THAT(none.err, HasSubstr("there is no service none"));
}

}  // namespace
}  // namespace podium
