// What submitting asks, how a refusal is shown, where the token is found, and what became of specs in git.
#include "tests/cli/command_fixture.h"

namespace podium {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

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

TEST_F(Commands, SubmitTellsWhereAServiceIsAsked) {
  const json service{{"name", "answers"}, {"url", "http://127.0.0.1:7071/answers"}};
  fake_.on("POST /api/v1/experiments", json{{"experiment", {{"id", 3}, {"name", "answers"}}},
                                            {"jobs", {test::job_json(12, "queued")}},
                                            {"service", service}});
  EXPECT_THAT(program_.run({"submit", write("a.yaml", kSpec)}).out,
              HasSubstr("service answers  http://127.0.0.1:7071/answers  "));
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
  fake_.on("POST /api/v1/jobs/operations", 401,
           R"({"title":"Unauthorized","status":401,"detail":"no token"})");
  const auto ran = program_.run({"cancel", "12"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("no token; name the user token with --token-file"));
}

TEST_F(Commands, TheTokenIsFoundInPodiumHome) {
  fake_.on("POST /api/v1/jobs/operations",
           json{{"results", {{{"id", 12}, {"job", test::job_json(12, "stopping")}}}}});
  write("user.token", "from-home\n");
  program_.environment["PODIUM_HOME"] = program_.folder().string();
  EXPECT_EQ(program_.run({"cancel", "12"}).out, "job 12 is stopping\n");
  EXPECT_EQ(fake_.asked("POST /api/v1/jobs/operations").at(0).headers.get("Authorization"),
            "Bearer from-home");
  write("other.token", "from-option");
  program_.run({"cancel", "12", "--token-file", "other.token"});
  EXPECT_EQ(fake_.asked("POST /api/v1/jobs/operations").at(1).headers.get("Authorization"),
            "Bearer from-option");
}

TEST_F(Commands, WhatIsNotACoordinatorIsSaid) {
  fake_.on("GET /api/v1/jobs", 200, "<html>");
  const auto ran = program_.run({"list"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("is this a Podium coordinator?"));
}

// The first file that was refused kept the others from being checked.
TEST_F(Commands, ValidateAsksTheServerAboutAllFilesAtOnce) {
  const json refused{{"valid", false},
                     {"errors", {{{"message", "needs 9 gpu devices"}, {"where", "a.yaml:4:1"}}}}};
  const json good{{"valid", true}, {"jobs", 2}, {"warnings", json::array()}, {"normalised", json::object()}};
  fake_.on("POST /api/v1/verdicts", json{{"verdicts", {refused, good}}});
  const std::string huge = std::string(kSpec) + "# " + std::string(300'000, 'x');
  const auto ran = program_.run(
      {"validate", "--server", write("a.yaml", kSpec), write("huge.yaml", huge), write("b.yaml", kSpec)});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("a.yaml:4:1: needs 9 gpu devices\na.yaml: 1 problem\n"));
  EXPECT_THAT(ran.err, HasSubstr("huge.yaml: 1 problem\n"));
  EXPECT_EQ(ran.out, "b.yaml is valid: 2 jobs\n");
  ASSERT_EQ(fake_.asked("POST /api/v1/verdicts").size(), 1u);
  const json asked = json::parse(fake_.asked("POST /api/v1/verdicts")[0].body)["specs"];
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[1], (json{{"spec", kSpec}, {"file", "b.yaml"}}));
}

TEST_F(Commands, SpecsTellWhatBecameOfEachAndWhyOneWasRefused) {
  const std::string commit = "0123456789abcdef0123456789abcdef01234567";
  const auto spec = [&](const char* path, const char* state, const json& experiment, const json& problems) {
    return json{{"path", path},
                {"commit", commit},
                {"state", state},
                {"experiment", experiment},
                {"problems", problems}};
  };
  const json problem{{"where", "b.yaml:2:1"}, {"message", "unknown key \"lable\""}};
  fake_.on("GET /api/v1/specs", json{{"repositories",
                                      {{{"name", "team"},
                                        {"url", "/srv/specs.git"},
                                        {"commit", commit},
                                        {"checked_ms", nullptr},
                                        {"error", "it is gone"},
                                        {"specs",
                                         {spec("a.yaml", "submitted", 7, json::array()),
                                          spec("b.yaml", "refused", nullptr, json::array({problem})),
                                          spec("old.yaml", "left", nullptr, json::array())}}}}}});
  fake_.on("GET /api/v1/specs", json{{"repositories", json::array()}});
  EXPECT_EQ(program_.run({"specs"}).out,
            "team  /srv/specs.git at 0123456789ab  not looked at yet\n"
            "the last look failed: it is gone\n"
            "SPEC      COMMIT        BECAME\n"
            "a.yaml    0123456789ab  experiment 7\n"
            "b.yaml    0123456789ab  refused\n"
            "old.yaml  0123456789ab  left as it was\n"
            "\nb.yaml:2:1: unknown key \"lable\"\n");
  EXPECT_EQ(program_.run({"specs"}).out,
            "No repository is watched. podium-coordinator --specs URL watches one.\n");
}

}  // namespace
}  // namespace podium
