// podium-worker score and predict: what they print, and how they fail.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "tests/child.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"
#include "tests/worker/tasks/squad_files.h"

namespace podium {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ScoreCommand : public testing::Test {
 protected:
  ScoreCommand() {
    write("dev.json", squad_file({squad_paragraph("The cat sat.",
                                                  {{"q1", "who", "The cat", 0}, {"q2", "what", "sat", 8}})}));
    write("predictions.json", R"({"q1": "a cat!", "q3": "dog"})");
  }

  void write(const std::string& name, const std::string& text) {
    write_file_atomic(folder_.path() / name, text);
  }
  // Runs it in the folder.
  int run(const std::string& arguments) {
    Child child(
        {"/bin/sh", "-c", "cd " + folder_.path().string() + " && \"$0\" " + arguments + " > out 2> log",
         test::program_path("podium-worker")},
        folder_.path() / "shell");
    const int status = child.wait();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string printed() const { return read_file(folder_.path() / "out"); }
  std::string said() const { return read_file(folder_.path() / "log"); }

  TempFolder folder_;
};

TEST_F(ScoreCommand, PrintsTheOfficialKeysOrATable) {
  ASSERT_EQ(run("score dev.json predictions.json --json"), 0) << said();
  EXPECT_EQ(nlohmann::json::parse(printed()), (nlohmann::json{{"exact_match", 50.0}, {"f1", 50.0}}));
  EXPECT_THAT(said(), HasSubstr("unanswered question q2 receives score 0"));
  ASSERT_EQ(run("score dev.json predictions.json"), 0) << said();
  EXPECT_THAT(printed(), AllOf(HasSubstr("exact match  50.0000"), HasSubstr("questions 2")));
}

TEST_F(ScoreCommand, ScoresQuestionsWithoutAnAnswerByTheRulesOf2) {
  write("dev.json",
        squad_file({squad_paragraph("The cat sat.", {{"q1", "who", "The cat", 0}, {"q2", "why", "", -1}})},
                   "2.0"));
  write("odds.json", R"({"q1": 0.5, "q2": 2})");
  write("predictions.json", R"({"q1": "cat", "q2": "sat"})");
  ASSERT_EQ(run("score dev.json predictions.json --null-odds odds.json --null-threshold 3 --json"), 0)
      << said();
  const auto scores = nlohmann::json::parse(printed());
  EXPECT_EQ(scores.at("exact"), 50.0);
  EXPECT_EQ(scores.at("HasAns_f1"), 100.0);
  EXPECT_EQ(scores.at("NoAns_total"), 1);
  EXPECT_EQ(scores.at("best_exact"), 100.0);
  EXPECT_EQ(scores.at("best_exact_thresh"), 0.5);
  ASSERT_EQ(run("score dev.json predictions.json --null-odds odds.json --json"), 0) << said();
  EXPECT_EQ(nlohmann::json::parse(printed()).at("exact"), 100.0);
  EXPECT_EQ(run("score dev.json predictions.json --null-odds odds.json --null-threshold nan"), 64);
}

TEST_F(ScoreCommand, RefusesWhatItCannotReadByTheFile) {
  write("torn.json", R"({"q1": )");
  EXPECT_EQ(run("score dev.json torn.json"), 65);
  EXPECT_THAT(said(), AllOf(HasSubstr("torn.json: no JSON"), HasSubstr("line 1")));
  write("numbers.json", R"({"q1": 7})");
  EXPECT_EQ(run("score dev.json numbers.json"), 65);
  EXPECT_THAT(said(), HasSubstr("numbers.json: the value of \"q1\" is not a text"));
  EXPECT_EQ(run("score dev.json absent.json"), 65);
  EXPECT_EQ(run("score dev.json predictions.json --null-threshold 1"), 64);
  write("odds.json", R"({"q1": 0.5, "q2": 2})");
  EXPECT_EQ(run("score dev.json predictions.json --null-odds odds.json"), 64);
  EXPECT_THAT(said(), HasSubstr("dev.json is of 1.1"));
}

TEST_F(ScoreCommand, PredictsOnlyWithAModelAndAQuestionInOneWay) {
  EXPECT_EQ(run("predict model --question who"), 64);
  EXPECT_THAT(said(), HasSubstr("--question with --context"));
  EXPECT_EQ(run("predict model --question who --context 'The cat' --jsonl -"), 64);
  const std::string asked = "predict model --question who --context 'The cat' ";
  EXPECT_EQ(run(asked + "--out answers"), 64);
  EXPECT_EQ(run(asked + "--null-threshold 1"), 64);
  EXPECT_THAT(said(), HasSubstr("add --may-be-none"));
  EXPECT_EQ(run(asked + "--may-be-none --null-threshold nan"), 64);
  EXPECT_EQ(run("predict model --question who --context ''"), 64);
  EXPECT_THAT(said(), HasSubstr("--context is empty"));
  EXPECT_EQ(run("predict model --question ' ' --context 'The cat'"), 64);
  EXPECT_THAT(said(), HasSubstr("--question is empty"));
  EXPECT_EQ(run("predict . --question who --context 'The cat'"), 65);
  EXPECT_THAT(said(), HasSubstr("is no model"));
}

}  // namespace
}  // namespace podium
