// The search for the first bad commit: its plan against a plain reading of every line of commits, and the
// command on a real repository.
#include <gmock/gmock.h>

#include "cli/bisection.h"
#include "tests/cli/command_fixture.h"
#include "tests/coordinator/specs/git_repository.h"

namespace podium {
namespace {

using cli::next_step;
using cli::Verdict;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Verdict kU = Verdict::untried, kG = Verdict::good, kB = Verdict::bad, kS = Verdict::skipped;

TEST(Bisection, FindsTheFirstBadOneInAsFewTrainingsAsThereCanBe) {
  for (std::size_t count = 1; count <= 70; ++count) {
    std::size_t most = 0;
    for (std::size_t first = 0; first < count; ++first) {
      std::vector<Verdict> commits(count, kU);
      commits.back() = kB;
      std::size_t trainings = 0;
      auto step = next_step(commits);
      for (; step.next; step = next_step(commits), ++trainings) {
        ASSERT_EQ(commits[*step.next], kU);
        commits[*step.next] = *step.next >= first ? kB : kG;
      }
      ASSERT_EQ(step.first_bad, first);
      most = std::max(most, trainings);
    }
    std::size_t least = 0;
    while ((std::size_t{1} << least) < count) ++least;
    EXPECT_EQ(most, least) << count << " commits";
  }
}

TEST(Bisection, GoesRoundWhatCannotBeTried) {
  const auto step = next_step({kU, kU, kS, kU, kU, kB});
  EXPECT_EQ(step.next, 1u);
  EXPECT_EQ(step.left, 6u);
  const auto told = next_step({kG, kS, kS, kB, kU, kB});
  EXPECT_FALSE(told.next);
  EXPECT_FALSE(told.first_bad);
  EXPECT_THAT(told.suspects, ::testing::ElementsAre(1, 2, 3));
  EXPECT_EQ(next_step({kG, kS, kG, kB}).first_bad, 3u)
      << "what was skipped before a good one does not matter";
}

TEST(Bisection, TakesAValueForBadThatIsNearerToTheBadOne) {
  EXPECT_TRUE(cli::is_bad(2.9, 2, 3));
  EXPECT_FALSE(cli::is_bad(2.4, 2, 3));
  EXPECT_TRUE(cli::is_bad(0.1, 0.9, 0.2)) << "of a metric that is better when it is more";
  EXPECT_FALSE(cli::is_bad(1.5, 0.9, 0.2));
  EXPECT_TRUE(cli::is_bad(std::numeric_limits<double>::quiet_NaN(), 2, 3));
}

class Bisect : public Commands {
 protected:
  static std::string spec(const std::string& more) {
    return "version: 1\nname: a\ncommand: [./train.py]\ncode: {folder: src}\nresources: {devices: 1}\n" +
           more;
  }

  // Commits: good, one that changes nothing of the job, three that do, the last of them bad.
  Bisect() {
    good_ = repository_.commit({{"job/spec.yaml", spec("")}, {"job/src/train.py", "1"}});
    repository_.commit({{"README", "x"}});
    second_ = repository_.commit({{"job/src/train.py", "2"}});
    third_ = repository_.commit({{"job/spec.yaml", spec("priority: 60\n")}});
    bad_ = repository_.commit({{"job/src/train.py", "3"}});
    fake_.on("GET /api/v1/experiments/5", {{"id", 5}, {"jobs", {5}}});
    program_.environment["PODIUM_TOKEN"] = "t";
  }

  json source(const std::string& commit) const {
    return {{"repository", "r"}, {"commit", commit}, {"path", "job/spec.yaml"}, {"dirty", false}};
  }

  void job(int id, const std::string& state, const std::string& commit) {
    fake_.on("GET /api/v1/jobs/" + std::to_string(id),
             {{"id", id}, {"experiment", id}, {"state", state}, {"source", source(commit)}});
  }

  static json outcome(const std::string& measure, const json& values) {
    return {
        {"measure", measure}, {"metric", measure == "time_to_train" ? "" : "eval/loss"}, {"values", values}};
  }

  // Of the next comparison that is asked for.
  void values(const std::vector<int>& jobs, const json& of_them) {
    json list = json::array();
    for (const int id : jobs) list.push_back({{"id", id}});
    fake_.on(
        "GET /api/v1/compare",
        {{"jobs", list}, {"outcomes", {outcome("final", json(jobs.size(), 9)), outcome("best", of_them)}}});
  }

  void ends(const std::string& good, const std::string& bad) {
    job(1, "succeeded", good);
    job(5, "succeeded", bad);
  }

  void experiments(const json& list) { fake_.on("GET /api/v1/experiments", {{"experiments", list}}); }

  test::Ran bisect(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"bisect",          "1", "5", "--metric", "eval/loss", "--repository",
                                   repository_.path()};
    words.insert(words.end(), more.begin(), more.end());
    return program_.run(words);
  }

  test::GitRepository repository_;
  std::string good_, second_, third_, bad_;
};

TEST_F(Bisect, ProposesTheCommitsThatChangedTheJob) {
  ends(good_, bad_);
  values({1, 5}, {2.0, 3.0});
  experiments(json::array());
  const auto ran = bisect({"--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json told = json::parse(ran.out);
  std::vector<std::string> commits;
  for (const json& each : told["commits"]) commits.push_back(each["commit"]);
  EXPECT_EQ(commits, (std::vector<std::string>{second_, third_, bad_}))
      << "not the one that changed README alone";
  EXPECT_EQ(told["next"], second_);
  EXPECT_EQ(told["first_bad"], nullptr);
  EXPECT_TRUE(fake_.asked("POST /api/v1/experiments").empty()) << "without --run nothing is submitted";
}

TEST_F(Bisect, CountsWhatWasTrainedBeforeAndNamesTheCommit) {
  ends(good_, bad_);
  values({1, 5}, {2.0, 3.0});
  experiments({{{"id", 7}, {"jobs", {7}}, {"source", source(third_)}},
               {{"id", 6}, {"jobs", {6}}, {"source", source(second_)}}});
  job(6, "succeeded", second_);
  job(7, "succeeded", third_);
  values({6}, {2.1});
  values({7}, {2.9});
  const auto ran = bisect();
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("first bad commit: " + third_));
}

TEST_F(Bisect, SubmitsACommitWithTheCodeThatItHas) {
  ends(good_, bad_);
  values({1, 5}, {2.0, 3.0});
  experiments(json::array());
  fake_.on("POST /api/v1/code", 201, json{{"sha256", std::string(64, 'a')}, {"bytes", 1}}.dump());
  fake_.on("POST /api/v1/experiments", 422,
           json{{"status", 422}, {"title", "no"}, {"detail", "no devices"}}.dump());
  const auto ran = bisect({"--run"});
  EXPECT_EQ(ran.status, 4);
  const auto asked = fake_.asked("POST /api/v1/experiments");
  ASSERT_EQ(asked.size(), 1u);
  const json body = json::parse(asked.front().body);
  EXPECT_EQ(body["source"], source(second_));
  EXPECT_EQ(body["spec"], spec(""));
  EXPECT_EQ(body["code"], std::string(64, 'a'));
  EXPECT_EQ(asked.front().headers.get("Idempotency-Key"), "bisect 1 5 " + second_);
}

TEST_F(Bisect, SkipsWhatFailedAndSaysWhatRemains) {
  ends(good_, bad_);
  values({1, 5}, {2.0, 3.0});
  experiments({{{"id", 7}, {"jobs", {7}}, {"source", source(third_)}},
               {{"id", 6}, {"jobs", {6}}, {"source", source(second_)}}});
  job(6, "failed", second_);
  job(7, "failed", third_);
  const auto ran = bisect();
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("is one of these"), HasSubstr(second_.substr(0, 12)), HasSubstr("skipped")));
}

TEST_F(Bisect, RefusesEqualValues) {
  ends(good_, bad_);
  values({1, 5}, {2.0, 2.0});
  EXPECT_THAT(bisect().err, HasSubstr("both jobs have eval/loss 2: nothing tells them apart"));
}

TEST_F(Bisect, RefusesAJobWithoutTheMetric) {
  ends(good_, bad_);
  values({1, 5}, {2.0, nullptr});
  EXPECT_THAT(bisect().err, HasSubstr("job 5 has no value of eval/loss"));
}

TEST_F(Bisect, RefusesAGoodOneThatComesLater) {
  ends(bad_, good_);
  values({1, 5}, {2.0, 3.0});
  EXPECT_THAT(bisect().err, HasSubstr("does not come before"));
}

TEST_F(Bisect, RefusesCommitsThatTheRepositoryLacks) {
  ends(good_, std::string(40, 'e'));
  values({1, 5}, {2.0, 3.0});
  EXPECT_THAT(bisect().err, HasSubstr("the repository lacks commit"));
}

}  // namespace
}  // namespace podium
