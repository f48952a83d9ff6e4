#include "worker/tasks/squad/squad_task.h"

#include <gmock/gmock.h>

#include <map>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "tests/worker/tasks/squad_files.h"
#include "worker/data/failure.h"
#include "worker/input/bad_data.h"
#include "worker/tasks/squad/span_head.h"

namespace podium {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr int kLength = 10;

class SquadTaskTest : public testing::Test {
 protected:
  SquadTaskTest() {
    spec_.training.task = TrainingTask::squad;
    spec_.data = {{"train.json"}, {"vocab.txt", true, "", ""}};
    spec_.training.batch = {.global = 6, .micro = 2};
    spec_.training.sequence_length = kLength;
    spec_.training.squad = {.document_stride = 2, .query_length = 2};
    spec_.evaluate = {
        .every = 5, .data = "dev.json", .sequences = 100, .squad = {.n_best = 5, .answer_length = 4}};
    write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nwho\na\nb\nc\nd\ne\nf\ng\n");
    // Nine questions with one feature each, known by the context's first letter, and one with two.
    std::vector<nlohmann::json> paragraphs;
    for (const char* const letters : {"a b c", "b c d", "c d e", "d e f", "e f g"})
      paragraphs.push_back(squad_paragraph(
          letters, {{std::string("q") + letters[0], "who a b", std::string(1, letters[2]), 2}}));
    paragraphs.push_back(squad_paragraph("f a b c d e g", {{"q6", "who", "g", 12}}));
    write("train.json", squad_file(paragraphs));
    write("dev.json", squad_file({squad_paragraph("a b c", {{"d1", "who", "b", 2}, {"d2", "who", "", -1}}),
                                  squad_paragraph("g f e d c b a", {{"d3", "who", "d c", 6}})}));
  }

  void write(const std::string& name, const std::string& text) const {
    write_file_atomic(folder_.path() / name, text);
  }
  std::unique_ptr<Task> task(int data_rank = 0, int data_size = 1) {
    return squad_task_source(spec_, folder_.path(), reading_, data_rank, data_size).make(spec_.training);
  }

  const TempFolder folder_;
  JobSpec spec_;
  Reading reading_;
};

// Sequences by their place in the global batch: ids and labels.
using Rows = std::map<std::int64_t, std::vector<std::int32_t>>;
Rows rows_of(const TaskBatch& batch) {
  Rows rows;
  for (const MicroBatch& micro : batch.micro_batches)
    for (int s = 0; s < micro.sequences; ++s) {
      const auto begin = micro.input_ids.begin() + s * kLength;
      std::vector<std::int32_t>& row = rows[micro.first_sample + s];
      row.assign(begin, begin + kLength);
      for (const std::size_t term : {kFirstTerm, kLastTerm})
        row.push_back(micro.targets[term].labels[static_cast<std::size_t>(s)]);
    }
  return rows;
}

TEST_F(SquadTaskTest, AnEpochHasEveryFeatureOnceInAnOrderOfItsOwn) {
  const auto made = task();
  made->start(1);
  std::vector<std::vector<std::int32_t>> seen;
  for (int step = 0; step < 7; ++step)  // 42 samples: six epochs of seven features
    for (const auto& [place, row] : rows_of(made->next())) seen.push_back(row);
  const std::vector<std::vector<std::int32_t>> first(seen.begin(), seen.begin() + 7),
      second(seen.begin() + 7, seen.begin() + 14);
  EXPECT_THAT(first, testing::UnorderedElementsAreArray(second));
  EXPECT_NE(first, second);
  // The question is cut to two tokens; of the long context one span has no answer and points at [CLS].
  EXPECT_THAT(first, testing::Contains(ElementsAre(2, 5, 6, 3, 6, 7, 8, 3, 0, 0, 5, 5)));
  EXPECT_THAT(first, testing::Contains(ElementsAre(2, 5, 3, 11, 6, 7, 8, 9, 10, 3, 0, 0)));
  EXPECT_THAT(first, testing::Contains(ElementsAre(2, 5, 3, 7, 8, 9, 10, 12, 3, 0, 7, 7)));
}

TEST_F(SquadTaskTest, DataRanksShareTheSameGlobalBatchAndAnyStepCanComeFirst) {
  const auto alone = task();
  alone->start(1);
  alone->next();
  const Rows whole = rows_of(alone->next());
  Rows parts;
  for (int rank = 0; rank < 3; ++rank) {
    const auto part = task(rank, 3);
    part->start(2);
    parts.merge(rows_of(part->next()));
  }
  EXPECT_EQ(parts, whole);
}

TEST_F(SquadTaskTest, AFeatureIsOfTwoSegmentsAndOpenWhereItIsHeldOut) {
  const auto made = task();
  const MicroBatch& batch = made->held_out().micro_batches[0];
  EXPECT_THAT(batch.valid_lengths, ElementsAre(7, 7));
  EXPECT_THAT(std::vector(batch.token_types.begin(), batch.token_types.begin() + kLength),
              ElementsAre(0, 0, 0, 1, 1, 1, 1, 0, 0, 0));
  EXPECT_THAT(batch.targets[kFirstTerm].labels, ElementsAre(-1, -1));
}

// Scores that point at the first and the last token of an answer in the long context's first feature, and at
// [CLS] in the second question.
TEST_F(SquadTaskTest, ScoresOfAllRanksMakeMetricsAndFiles) {
  Evaluation all{.seconds = 2};
  for (int rank = 0; rank < 2; ++rank) {
    const auto made = task(rank, 2);
    Sums scores(made->score_count(), 0.0);
    for (const MicroBatch& batch : made->held_out().micro_batches) {
      std::vector<float> values(static_cast<std::size_t>(2 * batch.sequences * kLength), -1);
      for (int s = 0; s < batch.sequences; ++s) {
        const std::int64_t feature = batch.first_sample + s;
        const auto at = [&](int position, int column) -> float& {
          return values[static_cast<std::size_t>(2 * (s * kLength + position) + column)];
        };
        if (feature == 0) at(4, 0) = at(4, 1) = 3;     // "b"
        if (feature == 1) at(0, 0) = at(0, 1) = 5;     // none
        if (feature == 2) at(6, 0) = 4, at(7, 1) = 4;  // "d c"
      }
      made->score(batch, {2, values}, scores);
    }
    all.totals.resize(made->held_out().totals.size());
    for (std::size_t i = 0; i < all.totals.size(); ++i) all.totals[i] += made->held_out().totals[i];
    all.scores.resize(scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i) all.scores[i] += scores[i];
  }
  const Findings found = task()->findings(all);
  EXPECT_THAT(
      found.metrics,
      ElementsAre(Pair("eval/exact_match", DoubleEq(100)), Pair("eval/f1", DoubleEq(100)),
                  Pair("eval/sequences_per_second", DoubleEq(2)), Pair("eval/has_answer_exact_match", 100),
                  Pair("eval/has_answer_f1", 100), Pair("eval/no_answer_exact_match", 100),
                  Pair("eval/no_answer_f1", 100), Pair("eval/best_exact_match", 100),
                  Pair("eval/best_f1", 100), Pair("eval/best_f1_threshold", testing::_)));
  std::map<std::string, std::string> files;
  for (const TaskFile& file : found.files) files[file.name] = file.content;
  EXPECT_EQ(files.size(), 3U);
  EXPECT_EQ(nlohmann::json::parse(files.at("predictions.json")),
            (nlohmann::json{{"d1", "b"}, {"d2", ""}, {"d3", "d c"}}));
  EXPECT_EQ(nlohmann::json::parse(files.at("null_odds.json")).at("d2"), 12.0);
}

TEST_F(SquadTaskTest, OnlyQuestionsAllOfWhoseFeaturesAreAmongTheFirstAreScored) {
  spec_.evaluate.sequences = 3;
  EXPECT_EQ(task()->held_out().totals[0], 2);
  spec_.evaluate.sequences = 4;
  EXPECT_EQ(task()->held_out().totals[0], 4);
}

TEST_F(SquadTaskTest, LossesAreTheMeanOfBothTerms) {
  const auto made = task();
  LossSums losses;
  losses[kFirstTerm] = {3, 8, 0};
  losses[kLastTerm] = {5, 8, 0};
  EXPECT_THAT(made->training_metrics({8}, losses), ElementsAre(Pair("train/loss", DoubleEq(0.5))));
  EXPECT_FLOAT_EQ(made->scales({8})[kFirstTerm], 0.0625F);
  EXPECT_FLOAT_EQ(made->scales({8})[kLastTerm], 0.0625F);
}

TEST_F(SquadTaskTest, WhatCannotBeTrainedOnIsRefusedOrTold) {
  write("train.json", squad_file({squad_paragraph("a b c", {{"q1", "who", "b", 2}, {"q2", "who", "f", 2}})}));
  task();
  ASSERT_EQ(reading_.warnings().size(), 1U);
  EXPECT_THAT(reading_.warnings()[0], HasSubstr("1 of 2 questions are left out"));
  EXPECT_THAT(reading_.warnings()[0], HasSubstr("\"q2\""));
  write("train.json", squad_file({squad_paragraph("a b c", {{"q2", "who", "f", 2}})}));
  EXPECT_THROW(task(), BadData);
  spec_.training.sequence_length = 5;
  EXPECT_THROW(check_squad(spec_), Failure);
}

}  // namespace
}  // namespace podium
