// podium compare: what it asks for, and how it shows the answer; the commits between in a real repository.
#include "cli/compare_text.h"
#include "tests/cli/command_fixture.h"
#include "tests/coordinator/specs/git_repository.h"

namespace podium {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

json field(const std::string& section, const std::string& key, bool differs, json values) {
  return {{"section", section}, {"key", key}, {"differs", differs}, {"values", std::move(values)}};
}

json outcome(const std::string& measure, const std::string& metric, json values, json differences,
             json best) {
  json steps = json::array();
  for (std::size_t i = 0; i < values.size(); ++i)
    steps.push_back(measure == "best" ? json(1000) : json(nullptr));
  return {{"measure", measure},
          {"metric", metric},
          {"better", "less"},
          {"better_by", "name"},
          {"values", std::move(values)},
          {"steps", std::move(steps)},
          {"differences", std::move(differences)},
          {"best", std::move(best)}};
}

json comparison(int count) {
  json jobs = json::array(), sources = json::array(), rates = json::array(), losses = json::array(),
       shares = json::array();
  for (int i = 0; i < count; ++i) {
    json job = test::job_json(12 + i, i == 0 ? "succeeded" : "running");
    job["name"] = "sweep-" + std::to_string(i);
    jobs.push_back(std::move(job));
    sources.push_back(nullptr);
    rates.push_back(0.25 * (i + 1));
    losses.push_back(2.0 + i);
    shares.push_back(0.5 * i);
  }
  return {{"base", 12},
          {"jobs", jobs},
          {"missing", json::array()},
          {"sources", sources},
          {"artificial", json::array()},
          {"fields", {field("spec", "training.optimizer.lr", true, rates)}},
          {"same", 40},
          {"left_out", 0},
          {"outcomes", {outcome("best", "eval/loss", losses, shares, {12})}},
          {"metrics", json::array()}};
}

TEST(CompareText, TellsDifferencesToTwoDigits) {
  const std::vector<std::pair<json, std::string>> cases = {
      {nullptr, ""},      {0.0, ""},       {0.5, "+50 %"}, {-0.031, "−3.1 %"}, {0.0004, "+0.04 %"},
      {-0.0996, "−10 %"}, {9.0, "+900 %"}, {56.6, "×58"},  {2.25, "+225 %"},   {"NaN", ""}};
  for (const auto& [share, text] : cases) EXPECT_EQ(cli::difference_text(share), text) << share;
}

TEST_F(Commands, CompareShowsAColumnAJob) {
  fake_.on("GET /api/v1/compare", comparison(2));
  const auto ran =
      program_.run({"compare", "12", "13", "--base", "12", "-m", "eval/*", "--metrics", "train/loss"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(fake_.asked("GET /api/v1/compare").at(0).target,
            "/api/v1/compare?job=12&job=13&base=12&metric=eval%2F%2A&metric=train%2Floss");
  EXPECT_THAT(ran.out, HasSubstr("JOB 12 (base)  JOB 13"));
  EXPECT_THAT(ran.out, HasSubstr("training.optimizer.lr  0.25           0.5"));
  EXPECT_THAT(ran.out, HasSubstr("eval/loss best         2 @1,000       3 @1,000 (+50 %)"));
  EXPECT_THAT(ran.out, HasSubstr("running 120/2,000"));
  EXPECT_THAT(ran.out, HasSubstr("so far"));
  EXPECT_THAT(ran.out, HasSubstr("40 settings are equal; --all shows them"));
}

TEST_F(Commands, CompareShowsTheBestInBold) {
  fake_.on("GET /api/v1/compare", comparison(2));
  program_.environment["TERM"] = "xterm";
  EXPECT_THAT(program_.run_on_terminal({"compare", "12", "13"}).out, HasSubstr("\x1b[1m2 @1,000"));
}

TEST_F(Commands, CompareShowsARowAJobWhereTheyAreMany) {
  fake_.on("GET /api/v1/compare", comparison(9));
  std::vector<std::string> words{"compare"};
  for (int i = 0; i < 9; ++i) words.push_back(std::to_string(12 + i));
  const auto ran = program_.run(words);
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("JOB  name     state"));
  EXPECT_THAT(ran.out, HasSubstr("12*  sweep-0  succeeded"));
  EXPECT_THAT(ran.out, HasSubstr("with more than 8 jobs each has a row"));
}

TEST_F(Commands, CompareLeavesOutWhatLongValuesHaveInFront) {
  json answer = comparison(2);
  answer["fields"] = {
      field("spec", "data.train", true,
            {"/data/shared/corpora/books/train-0001.txt", "/data/shared/corpora/wiki/train-0002.txt"})};
  fake_.on("GET /api/v1/compare", answer);
  const auto ran = program_.run({"compare", "12", "13"});
  EXPECT_THAT(ran.out, HasSubstr("…books/train-0001.txt"));
  EXPECT_THAT(ran.out, HasSubstr("…wiki/train-0002.txt"));
}

TEST_F(Commands, CompareTakesTheJobsOfAnExperiment) {
  fake_.on("GET /api/v1/experiments", json{{"experiments",
                                            {{{"id", 4}, {"name", "other"}, {"jobs", {20}}},
                                             {{"id", 3}, {"name", "mine"}, {"jobs", {12, 13}}}}}});
  fake_.on("GET /api/v1/compare", comparison(2));
  ASSERT_EQ(program_.run({"compare", "--experiment", "mine"}).status, 0);
  EXPECT_EQ(fake_.asked("GET /api/v1/compare").at(0).target, "/api/v1/compare?job=12&job=13");
  const auto unknown = program_.run({"compare", "--experiment", "nobody's"});
  EXPECT_EQ(unknown.status, 4);
  EXPECT_THAT(unknown.err, HasSubstr("there is no experiment \"nobody's\""));
}

TEST_F(Commands, CompareNeedsTwoJobsThatExist) {
  const auto one = program_.run({"compare", "12"});
  EXPECT_EQ(one.status, 2);
  EXPECT_THAT(one.err, HasSubstr("name two jobs to compare"));
  json answer = comparison(1);
  answer["missing"] = {99};
  fake_.on("GET /api/v1/compare", answer);
  const auto missing = program_.run({"compare", "12", "99"});
  EXPECT_EQ(missing.status, 4);
  EXPECT_THAT(missing.err, HasSubstr("there is no job 99"));
}

class CompareCommits : public Commands {
 protected:
  // Job 12 is of `first`, job 13 of `second`.
  std::string compared(const std::string& first, const std::string& second, const std::string& folder) {
    json answer = comparison(2);
    answer["sources"] = {{{"repository", "r"}, {"commit", first}, {"path", "a"}, {"dirty", false}},
                         {{"repository", "r"}, {"commit", second}, {"path", "a"}, {"dirty", true}}};
    fake_.on("GET /api/v1/compare", answer);
    const auto ran = program_.run({"compare", "12", "13", "--repository", folder});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.out;
  }

  test::GitRepository repository_;
};

TEST_F(CompareCommits, AreListedWhereTheRepositoryIsHere) {
  const std::string first = repository_.commit({{"a", "1"}});
  const std::string second = repository_.commit({{"a", "2"}});
  const std::string third = repository_.commit({{"a", "3"}});
  const std::string forward = compared(first, third, repository_.path());
  EXPECT_THAT(forward, HasSubstr("Commits of job 13 that job 12 lacks: 2\n  " + third.substr(0, 12)));
  EXPECT_THAT(forward, HasSubstr("\n  " + second.substr(0, 12)));
  EXPECT_THAT(forward, Not(HasSubstr("Commits of job 12")));
  EXPECT_THAT(forward, HasSubstr("uncommitted changes"));
}

TEST_F(CompareCommits, OfBothSidesAreListedWhereTheyParted) {
  const std::string first = repository_.commit({{"a", "1"}});
  const std::string other = repository_.rewrite({{"b", "1"}}, "other");
  const std::string text = compared(first, other, repository_.path());
  EXPECT_THAT(text, HasSubstr("Commits of job 13 that job 12 lacks: 1\n  " + other.substr(0, 12)));
  EXPECT_THAT(text, HasSubstr("Commits of job 12 that job 13 lacks: 1\n  " + first.substr(0, 12)));
}

TEST_F(CompareCommits, AreAskedForWhereTheRepositoryIsElsewhere) {
  const std::string first = repository_.commit({{"a", "1"}});
  EXPECT_THAT(compared(first, std::string(40, 'f'), repository_.path()),
              HasSubstr("--repository DIR lists the commits between"));
  EXPECT_THAT(compared(first, std::string(40, 'f'), "/"),
              HasSubstr("--repository DIR lists the commits between"));
}

TEST_F(CompareCommits, AreNotSpokenOfWhereAllHaveTheSame) {
  const std::string first = repository_.commit({{"a", "1"}});
  EXPECT_THAT(compared(first, first, "/"), Not(HasSubstr("--repository")));
}

}  // namespace
}  // namespace podium
