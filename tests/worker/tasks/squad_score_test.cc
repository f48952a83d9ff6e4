#include "worker/tasks/squad/squad_score.h"

#include <gmock/gmock.h>

#include <sstream>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "tests/worker/shared_data.h"
#include "tests/worker/tasks/squad_files.h"
#include "worker/input/bad_data.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<SquadAnswer> truths_of(const json& texts) {
  std::vector<SquadAnswer> truths;
  for (const json& text : texts) truths.push_back({text.get<std::string>(), 0});
  return truths;
}

SquadPredictions predictions_of(const std::vector<std::pair<std::string, std::string>>& by_id) {
  return {by_id.begin(), by_id.end()};
}

TEST(SquadScore, MatchesTheVectorsOfTheOfficialRules) {
  const auto path = shared_data("squad/em_f1_vectors.json");
  if (!path) GTEST_SKIP() << "skipped: no shared data";
  const json vectors = json::parse(read_file(*path));
  for (const json& example : vectors.at("norm_examples"))
    EXPECT_EQ(normalized_answer(example[0].get<std::string>()), example[1].get<std::string>()) << example;
  int checked = 0;
  for (const json& vector : vectors.at("vectors")) {
    const AnswerScore score = score_answer(vector.at("prediction").get<std::string>(),
                                           truths_of(vector.at("ground_truths")), SquadRules::v1);
    EXPECT_EQ(score.exact, vector.at("exact_match").get<double>()) << vector;
    EXPECT_DOUBLE_EQ(score.f1, vector.at("f1").get<double>()) << vector;
    ++checked;
  }
  EXPECT_GT(checked, 300);
}

TEST(SquadScore, RealSubmissionsGetTheirRecordedScores) {
  const auto folder = shared_data("squad");
  if (!folder) GTEST_SKIP() << "skipped: no shared data";
  const TempFolder temp;
  const auto unpack = [&](const std::string& name) {
    write_file_atomic(temp.path() / "file.json", read_zstd(*folder / (name + ".json.zst")));
    return temp.path() / "file.json";
  };
  const SquadData data = read_squad(unpack("dev-v1.1.reconstructed"));
  EXPECT_FALSE(data.version2);
  EXPECT_EQ(data.questions(), 10570);
  std::istringstream lines(read_file(*folder / "expected_scores.csv"));
  std::string line;
  std::getline(lines, line);  // names of columns
  int checked = 0;
  for (; std::getline(lines, line); ++checked) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    const auto predictions =
        predictions_of(read_squad_predictions(unpack("predictions-v1.1-dev/" + cells[0])));
    const SquadScores scores = score_squad_v1(data, predictions);
    EXPECT_EQ(std::to_string(scores.all.questions), cells[1]);
    EXPECT_EQ(std::to_string(predictions.size()), cells[2]);
    EXPECT_EQ(std::to_string(scores.unanswered.size()), cells[3]);
    EXPECT_DOUBLE_EQ(scores.all.exact, std::stod(cells[6])) << cells[0];
    EXPECT_NEAR(scores.all.f1, std::stod(cells[7]), 1e-9) << cells[0];
  }
  EXPECT_EQ(checked, 5);
}

TEST(SquadScore, NothingAgainstNothingIsExactAndOnlyIn2HasAnF1) {
  const std::vector<SquadAnswer> article{{"the", 0}};
  EXPECT_EQ(score_answer("a", article, SquadRules::v1).exact, 1);
  EXPECT_EQ(score_answer("a", article, SquadRules::v1).f1, 0);
  EXPECT_EQ(score_answer("", article, SquadRules::v2).f1, 1);  // "the" does not count as a true answer
  EXPECT_EQ(score_answer("cat", article, SquadRules::v2).f1, 0);
  EXPECT_EQ(score_answer("", {}, SquadRules::v2).exact, 1);
}

class SquadScore2 : public testing::Test {
 protected:
  SquadScore2() {
    write("dev.json",
          squad_file({squad_paragraph("The cat sat on a mat in Rome.", {{"q1", "who", "The cat", 0},
                                                                        {"q2", "where", "a mat", 15},
                                                                        {"q3", "when", "", -1},
                                                                        {"q4", "why", "", -1},
                                                                        {"q5", "city", "Rome", 24}})},
                     "v2.0"));
  }
  void write(const std::string& name, const std::string& text) { write_file_atomic(path(name), text); }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

  const TempFolder folder_;
};

TEST_F(SquadScore2, QuestionsWithAndWithoutAnAnswerAreTold) {
  const SquadData data = read_squad(path("dev.json"));
  EXPECT_TRUE(data.version2);
  const SquadScores scores =
      score_squad_v2(data, {{"q1", "cat"}, {"q2", "mat in Rome"}, {"q3", ""}, {"q4", "sat"}});
  EXPECT_THAT(scores.unanswered, ElementsAre("q5"));
  EXPECT_DOUBLE_EQ(scores.all.exact, 50);
  EXPECT_DOUBLE_EQ(scores.all.f1, 100.0 * (1 + 0.5 + 1 + 0) / 4);
  EXPECT_EQ(scores.all.questions, 4);
  EXPECT_DOUBLE_EQ(scores.has_answer->f1, 75);
  EXPECT_DOUBLE_EQ(scores.no_answer->exact, 50);
  EXPECT_FALSE(scores.best);
}

// By hand: all five as "no answer" score 2. In the order of the odds q2 gives +1, q4 -1, q1 +1, q5 +1, q3
// nothing.
TEST_F(SquadScore2, TheBestThresholdsPassTheOddsInAscendingOrder) {
  write("odds.json", R"({"q1": 0.3, "q2": -4, "q3": 9, "q4": 0.25, "q5": 0.3})");
  const SquadPredictions predictions{
      {"q1", "cat"}, {"q2", "mat"}, {"q3", "sat"}, {"q4", "sat"}, {"q5", "Rome"}};
  const NullOdds odds{read_squad_null_odds(path("odds.json")), 1.0};
  const SquadScores scores = score_squad_v2(read_squad(path("dev.json")), predictions, &odds);
  EXPECT_DOUBLE_EQ(scores.all.exact, 100.0 * 4 / 5);  // above 1 only q3, which then is right
  EXPECT_DOUBLE_EQ(scores.best->exact, 100.0 * 4 / 5);
  EXPECT_DOUBLE_EQ(scores.best->exact_threshold, 0.3);
  EXPECT_DOUBLE_EQ(scores.best->f1, 100.0 * 4 / 5);
  EXPECT_THROW(score_squad_v2(read_squad(path("dev.json")), {{"q9", ""}}, &odds), BadData);
}

class SquadDataTest : public testing::Test {
 protected:
  std::string refusal(const std::string& content) const {
    const std::filesystem::path path = folder_.path() / "train.json";
    write_file_atomic(path, content);
    try {
      read_squad(path);
    } catch (const BadData& error) {
      EXPECT_THAT(error.what(), HasSubstr(path.string()));
      return error.what();
    }
    return "";
  }
  static json one() { return json::parse(squad_file({squad_paragraph("a b", {{"q1", "who", "a", 0}})})); }

  const TempFolder folder_;
};

TEST_F(SquadDataTest, WhatIsMalformedIsRefusedByItsPlace) {
  json file = one();
  json& question = file["data"][0]["paragraphs"][0]["qas"][0];
  question["answers"][0]["answer_start"] = "0";
  EXPECT_THAT(refusal(file.dump()),
              HasSubstr("data[0].paragraphs[0].qas[0].answers[0].answer_start is no whole number"));
  question["answers"] = json::array();
  EXPECT_THAT(refusal(file.dump()), HasSubstr("qas[0].answers is empty; only in SQuAD 2.0"));
  question["is_impossible"] = true;
  EXPECT_EQ(refusal(file.dump()), "");
  question.erase("id");
  EXPECT_THAT(refusal(file.dump()), HasSubstr("data[0].paragraphs[0].qas[0] has no \"id\""));
  file["data"][0] = 5;
  EXPECT_THAT(refusal(file.dump()), HasSubstr("data[0] is no object"));
}

TEST_F(SquadDataTest, FilesThatAreNoJsonOrNoTextAreRefused) {
  EXPECT_THAT(refusal(""), HasSubstr("no JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("the file is no object"));
  EXPECT_THAT(refusal("{\"data\": []}"), HasSubstr("data has no question"));
  EXPECT_THAT(refusal("{\n\"data\": [,]}"), HasSubstr("line 2"));
  EXPECT_THAT(refusal("{\n\"data\": \"\xe9\"}"), AllOf(HasSubstr(":2: byte 12"), HasSubstr("not UTF-8")));
}

TEST_F(SquadDataTest, PredictionsAreTextsAndOddsNumbers) {
  const std::filesystem::path path = folder_.path() / "predictions.json";
  write_file_atomic(path, R"({"b": "x", "a": "y", "b": "z"})");
  EXPECT_THAT(read_squad_predictions(path), ElementsAre(std::pair("b", "z"), std::pair("a", "y")));
  EXPECT_THROW(read_squad_null_odds(path), BadData);
  write_file_atomic(path, R"(["a"])");
  EXPECT_THROW(read_squad_predictions(path), BadData);
}

}  // namespace
}  // namespace podium
