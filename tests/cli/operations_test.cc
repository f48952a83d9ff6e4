// What an operator does to jobs, nodes and accounts: what is asked, and what is said of it.
#include "tests/cli/command_fixture.h"

namespace podium {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

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

json done(const json& job) { return {{"id", job["id"]}, {"job", job}}; }

TEST_F(Commands, OperatorsPrioritiseJobs) {
  fake_.on("POST /api/v1/jobs/12/priority", 200, test::job_json(12, "queued").dump());
  EXPECT_EQ(program_.run({"priority", "80", "12"}).out, "job 12 is queued, priority 50\n");
  EXPECT_EQ(json::parse(fake_.asked("POST /api/v1/jobs/12/priority").at(0).body), json({{"priority", 80}}));
  EXPECT_EQ(program_.run({"priority", "101", "12"}).status, 2);
}

TEST_F(Commands, AHoldIsToldOfRunningAndOfQueuedJobs) {
  json running = test::job_json(12, "running"), queued = test::job_json(13, "queued");
  running["held"] = queued["held"] = true;
  fake_.on("POST /api/v1/jobs/operations", json{{"results", {done(running), done(queued)}}});
  EXPECT_EQ(program_.run({"hold", "12", "13"}).out,
            "job 12 is running, priority 50, held: it goes on, but does not start again\n"
            "job 13 is queued, priority 50, held\n");
  EXPECT_EQ(json::parse(fake_.asked("POST /api/v1/jobs/operations").at(0).body),
            (json{{"operation", "hold"}, {"jobs", {12, 13}}}));
}

TEST_F(Commands, AJobThatIsRefusedKeepsNoneOfTheOthersFromBeingCancelled) {
  fake_.on(
      "POST /api/v1/jobs/operations",
      json{{"results",
            {{{"id", 11}, {"refusal", "job 11 has already ended"}}, done(test::job_json(12, "stopping"))}}});
  const auto ran = program_.run({"cancel", "11", "12"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_EQ(ran.out, "job 12 is stopping\n");
  EXPECT_EQ(ran.err, "podium: job 11 has already ended\n");
  const auto told = program_.run({"cancel", "11", "12", "--json"});
  EXPECT_EQ(told.status, 4);
  const json results = json::parse(told.out).at("results");
  EXPECT_EQ(results.at(0), (json{{"id", 11}, {"refusal", "job 11 has already ended"}}));
  EXPECT_EQ(results.at(1).at("job").at("state"), "stopping");
}

TEST_F(Commands, WhatIsCancelledIsNamedOrChosenAndNotBoth) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"cancel"}, {"cancel", "--yes"}}) {
    const auto ran = program_.run(arguments);
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err,
                HasSubstr("name the jobs to cancel by their numbers, or choose them with --experiment"));
  }
  EXPECT_THAT(program_.run({"cancel", "12", "--state", "queued"}).err, HasSubstr("not both"));
  EXPECT_THAT(program_.run({"cancel", "0"}).err, HasSubstr("\"0\" is not the number of a job"));
  fake_.on("GET /api/v1/jobs", json{{"jobs", json::array()}, {"total", 0}});
  program_.run({"cancel", "--experiment", "3", "--name", "a", "--label", "k=v"});
  program_.run({"cancel", "--experiment", "three", "--state", "running"});
  EXPECT_EQ(
      fake_.asked("GET /api/v1/jobs").at(0).target,
      "/api/v1/"
      "jobs?state=queued%2Cstarting%2Crunning%2Cstopping&experiment=3&name=a&label=k%3Dv&sort=id&limit=1000");
  EXPECT_EQ(fake_.asked("GET /api/v1/jobs").at(1).target,
            "/api/v1/jobs?state=running&experiment_name=three&sort=id&limit=1000");
}

TEST_F(Commands, OfThoseThatAFilterChoosesHeldJobsAloneAreReleased) {
  json held = test::job_json(12, "queued"), refused = test::job_json(14, "queued");
  held["held"] = refused["held"] = true;
  fake_.on("GET /api/v1/jobs", json{{"jobs", {held, test::job_json(13, "queued"), refused}}, {"total", 3}});
  fake_.on(
      "POST /api/v1/jobs/operations",
      json{{"results", {done(test::job_json(12, "queued")), {{"id", 14}, {"refusal", "job 14 has ended"}}}}});
  const auto ran = program_.run({"release", "--state", "queued", "--yes"});
  EXPECT_EQ(ran.out, "1 job: now 1 queued\n");
  EXPECT_EQ(ran.err, "podium: job 14 has ended\n");
  EXPECT_EQ(json::parse(fake_.asked("POST /api/v1/jobs/operations").at(0).body),
            (json{{"operation", "release"}, {"jobs", {12, 14}}}));
}

// "$EXP", which is not set.
TEST_F(Commands, AnEmptyFilterChoosesNobodyElsesJobs) {
  for (const char* filter : {"--experiment", "--name", "--label", "--account", "--state"}) {
    const auto ran = program_.run({"cancel", "--state", "queued", filter, "", "--yes"});
    EXPECT_EQ(ran.status, 2) << filter;
    EXPECT_THAT(ran.err + ran.out, HasSubstr("needs a value that is not empty")) << filter;
  }
  EXPECT_TRUE(fake_.asked("GET /api/v1/jobs").empty());
}

TEST_F(Commands, WhatWasDoneBeforeTroubleIsTold) {
  std::vector<std::string> words{"cancel"};
  json results = json::array();
  for (int id = 1; id <= 1001; ++id) {
    words.push_back(std::to_string(id));
    if (id <= 1000) results.push_back(done(test::job_json(id, "stopping")));
  }
  fake_.on("GET /api/v1/jobs", json{{"jobs", json::array()}, {"total", 0}});
  fake_.on("POST /api/v1/jobs/operations", json{{"results", results}});
  fake_.on("POST /api/v1/jobs/operations", 503, R"({"status":503,"detail":"stopping"})");
  const auto ran = program_.run(words);
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.out, HasSubstr("job 1000 is stopping\n"));
  EXPECT_THAT(ran.err, HasSubstr("the request for 1000 of 1,001 jobs was sent before"));
}

// The first thousand, which ran, freed devices for the others.
TEST_F(Commands, OfManyJobsThoseThatWaitAreCancelledFirst) {
  std::vector<std::string> words{"cancel"};
  json queued = json::array();
  for (int id = 1; id <= 2001; ++id) {
    words.push_back(std::to_string(id));
    if (id > 1000) queued.push_back(test::job_json(id, "queued"));
  }
  fake_.on("GET /api/v1/jobs", json{{"jobs", queued}, {"total", 1001}});
  fake_.on("POST /api/v1/jobs/operations", json{{"results", json::array()}});
  EXPECT_EQ(program_.run(words).status, 0);
  EXPECT_THAT(fake_.asked("GET /api/v1/jobs").at(0).target, HasSubstr("state=queued"));
  std::vector<std::int64_t> order;
  for (const auto& asked : fake_.asked("POST /api/v1/jobs/operations")) {
    const json body = json::parse(asked.body);
    for (const json& id : body["jobs"]) order.push_back(id);
  }
  ASSERT_EQ(order.size(), 2001u);
  EXPECT_EQ(order.front(), 1001);
  EXPECT_EQ(order.at(1000), 2001);
  EXPECT_EQ(order.back(), 1000);
}

// "--" before it made the program abort.
TEST_F(Commands, AWordThatBeginsWithADashIsNoCrash) {
  for (const char* command : {"cancel", "show", "logs", "compare"}) {
    const auto ran = program_.run({command, "--", "-1"});
    EXPECT_EQ(ran.status, 2) << command;
    EXPECT_THAT(ran.err + ran.out, HasSubstr("-1"));
  }
  EXPECT_EQ(program_.run({"show", "--", "-"}).status, 2);
  EXPECT_EQ(program_.run({"--", "show", "5"}).status, 2);
}

TEST_F(Commands, NodeOperations) {
  for (const char* operation : {"drain", "resume", "reserve", "unreserve", "labels"})
    fake_.on(std::string("POST /api/v1/nodes/node-1/") + operation, json{{"id", "node-1"}});
  const auto body = [&](const std::string& operation) {
    return json::parse(fake_.asked("POST /api/v1/nodes/node-1/" + operation).at(0).body);
  };
  EXPECT_EQ(
      program_.run({"nodes", "drain", "node-1", "--reason", "new fans", "--until", "2026-03-01T12:00Z"}).out,
      "node-1 is drained until 2026-03-01 12:00: its jobs go on and nothing new starts\n");
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

// It said that the node is drained, an hour before.
TEST_F(Commands, ADrainThatIsToComeIsTold) {
  program_.environment["TZ"] = "CET-1";
  fake_.on("POST /api/v1/nodes/node-1/drain", json{{"id", "node-1"}});
  fake_.on("POST /api/v1/nodes/node-1/reserve", json{{"id", "node-1"}});
  EXPECT_EQ(
      program_.run({"nodes", "drain", "node-1", "--from", "2100-01-01T11:00Z", "--until", "2100-01-01T13:30"})
          .out,
      "node-1 will be drained from 2100-01-01 12:00 until 2100-01-01 13:30: jobs that end before it still "
      "start\n");
  EXPECT_EQ(
      program_.run({"nodes", "reserve", "node-1", "--account", "nlp", "--from", "2100-01-01T11:00Z"}).out,
      "node-1 will be reserved for account nlp from 2100-01-01 12:00\n");
}

// "podium: /until_ms: the window must end after it begins"
TEST_F(Commands, RefusalsNameWhatTheUserWrote) {
  const auto refuse = [](const char* where) {
    return json{{"status", 422}, {"errors", {{{"message", "is wrong"}, {"where", where}}}}}.dump();
  };
  fake_.on("POST /api/v1/nodes/node-1/drain", 422, refuse("/until_ms"));
  EXPECT_EQ(program_.run({"nodes", "drain", "node-1"}).err, "podium: --until: is wrong\n");
  fake_.on("POST /api/v1/nodes/node-1/reserve", 422, refuse("/account"));
  EXPECT_EQ(program_.run({"nodes", "reserve", "node-1", "--account", "x"}).err,
            "podium: --account: is wrong\n");
  fake_.on("POST /api/v1/accounts/nlp", 422, refuse("/quota/gpu"));
  EXPECT_EQ(program_.run({"accounts", "set", "nlp"}).err, "podium: --quota gpu: is wrong\n");
  const json sort{{"message", "query parameter \"sort\" \"foo\" is no order"}, {"where", "sort"}};
  fake_.on("GET /api/v1/jobs", 400, json{{"status", 400}, {"errors", {sort}}}.dump());
  EXPECT_EQ(program_.run({"list", "--sort", "foo"}).err, "podium: --sort: \"foo\" is no order\n");
  fake_.on("POST /api/v1/nodes/node-1/labels", 422, refuse("/labels/a~1b"));
  EXPECT_EQ(program_.run({"nodes", "label", "node-1", "a/b=r1"}).err, "podium: label a/b: is wrong\n");
  const json rank{{"message", "query parameter \"experiment_name\" \"x\" is the name of no experiment"},
                  {"where", "experiment_name"}};
  fake_.on("GET /api/v1/jobs", 400, json{{"status", 400}, {"errors", {rank}}}.dump());
  fake_.on("GET /api/v1/jobs", 400, json{{"status", 400}, {"errors", {rank}}}.dump());
  program_.run({"list"});
  EXPECT_EQ(program_.run({"list", "--experiment", "x"}).err,
            "podium: --experiment: \"x\" is the name of no experiment\n");
  EXPECT_EQ(program_.run({"extend", "12", "--walltime", "long"}).status, 2);
}

// It asked the coordinator first, and ended with the status of a refusal.
TEST_F(Commands, FiltersThatAreWrittenWrongAreRefusedBeforeAnybodyIsAsked) {
  const auto state = program_.run({"list", "--state", "running,bogus"});
  EXPECT_EQ(state.status, 2);
  EXPECT_THAT(state.err, HasSubstr("\"bogus\" is no state of a job; they are queued, starting, running, "
                                   "stopping, succeeded, failed, cancelled, stopped"));
  const auto label = program_.run({"cancel", "--label", "team", "--yes"});
  EXPECT_EQ(label.status, 2);
  EXPECT_THAT(label.err, HasSubstr("must be written key:value or key=value"));
  EXPECT_TRUE(fake_.asked("GET /api/v1/jobs").empty());
}

// Methods, headers and routes are no words of who types commands.
TEST_F(Commands, RefusalsHaveNoWordsOfTheProtocol) {
  const auto refuse = [&](int status, const std::string& detail) {
    test::FakeCoordinator fake;
    program_.environment["PODIUM_COORDINATOR"] = fake.address();
    fake.on("GET /api/v1/jobs/12", status, json{{"status", status}, {"detail", detail}}.dump());
    return program_.run({"show", "12"}).err;
  };
  EXPECT_EQ(refuse(401, "this needs a token: send \"Authorization: Bearer TOKEN\""),
            "podium: this needs the user token; name the user token with --token-file, PODIUM_TOKEN or "
            "PODIUM_HOME\n");
  EXPECT_THAT(refuse(404, "there is no /api/v1/jobs/12; GET /api/v1/openapi.yaml lists what is"),
              ::testing::StartsWith("podium: this coordinator does not know this request"));
  EXPECT_THAT(refuse(405, "GET is not possible here; POST is"),
              ::testing::StartsWith("podium: this coordinator does not know this request"));
  EXPECT_EQ(refuse(409, "Idempotency-Key \"k\" was used for experiment 3"),
            "podium: --key \"k\" was used for experiment 3\n");
  program_.environment["PODIUM_COORDINATOR"] = "http://127.0.0.1:1";
  EXPECT_THAT(program_.run({"show", "12"}).err,
              ::testing::StartsWith("podium: cannot reach the coordinator at http://127.0.0.1:1: cannot "
                                    "connect: Connection refused. Is it running?"));
}

}  // namespace
}  // namespace podium
