#include "worker/tasks/classify/classify_task.h"

#include <gmock/gmock.h>

#include <map>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "worker/data/failure.h"
#include "worker/tasks/classify/classify_head.h"

namespace podium {
namespace {

using testing::AllOf;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr int kLength = 8;
constexpr std::int32_t kPad = 0, kClassify = 2, kSeparator = 3;

class ClassifyTaskTest : public testing::Test {
 protected:
  ClassifyTaskTest() {
    spec_.training.task = TrainingTask::classify;
    spec_.data = {{"train.tsv"}, {"vocab.txt", true, "", ""}};
    spec_.training.batch = {.global = 6, .micro = 2};
    spec_.training.sequence_length = kLength;
    spec_.evaluate = {.every = 5, .data = "held-out.tsv", .sequences = 100};
    write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\ne\nf\ng\nh\ni\n");
    // Nine sentences, each known by its first letter, of classes x (three) and y (six).
    write("train.tsv",
          "sentence\tlabel\na\tx\nb a\ty\nc a a\ty\nd\tx\ne a\ty\nf\ty\ng\tx\nh a a a a a a a\ty\ni\ty\n");
    write("held-out.tsv", "sentence\tlabel\na b\ty\nb\tx\nc\ty\nd\ty\ne\tx\n");
  }

  void write(const std::string& name, const std::string& text) const {
    write_file_atomic(folder_.path() / name, text);
  }
  TaskSource source(int data_rank = 0, int data_size = 1) {
    return classify_task_source(spec_, folder_.path(), reading_, data_rank, data_size);
  }
  std::unique_ptr<Task> task(int data_rank = 0, int data_size = 1) {
    return source(data_rank, data_size).make(spec_.training);
  }

  const TempFolder folder_;
  JobSpec spec_;
  Reading reading_;
};

// Sequences by their place in the global batch: first letter's id and label.
std::map<std::int64_t, std::pair<std::int32_t, std::int32_t>> rows_of(const TaskBatch& batch) {
  std::map<std::int64_t, std::pair<std::int32_t, std::int32_t>> rows;
  for (const MicroBatch& micro : batch.micro_batches)
    for (int s = 0; s < micro.sequences; ++s)
      rows[micro.first_sample + s] = {micro.input_ids[static_cast<std::size_t>(s * kLength + 1)],
                                      micro.targets[kClassTerm].labels[static_cast<std::size_t>(s)]};
  return rows;
}

std::int32_t label_of(std::int32_t letter) {  // x is 0
  return letter == 5 || letter == 8 || letter == 11 ? 0 : 1;
}

TEST_F(ClassifyTaskTest, AnEpochHasEverySentenceOnceWithItsLabelInAnotherOrder) {
  const auto made = task();
  made->start(1);
  std::vector<std::int32_t> letters;
  for (int step = 0; step < 3; ++step)  // 18 samples: two epochs of nine
    for (const auto& [place, row] : rows_of(made->next())) {
      EXPECT_EQ(row.second, label_of(row.first));
      letters.push_back(row.first);
    }
  const std::vector<std::int32_t> first(letters.begin(), letters.begin() + 9);
  const std::vector<std::int32_t> second(letters.begin() + 9, letters.end());
  for (const auto& epoch : {first, second})
    EXPECT_THAT(epoch, testing::UnorderedElementsAre(5, 6, 7, 8, 9, 10, 11, 12, 13));
  EXPECT_NE(first, second);
}

TEST_F(ClassifyTaskTest, DataRanksShareTheSameGlobalBatchAndAnyStepCanComeFirst) {
  const auto alone = task();
  alone->start(1);
  alone->next();
  const auto whole = rows_of(alone->next());
  auto parts = std::map<std::int64_t, std::pair<std::int32_t, std::int32_t>>();
  for (int rank = 0; rank < 3; ++rank) {
    const auto part = task(rank, 3);
    part->start(2);
    parts.merge(rows_of(part->next()));
  }
  EXPECT_EQ(parts, whole);
}

TEST_F(ClassifyTaskTest, ASequenceIsClassifiedBetweenItsSpecialTokensAndCut) {
  const auto source = this->source();
  EXPECT_EQ(source.vocabulary, 14);
  const auto made = source.make(spec_.training);
  const MicroBatch& first = made->held_out().micro_batches[0];
  EXPECT_EQ(first.length, kLength);
  EXPECT_THAT(first.valid_lengths, ElementsAre(4, 3));
  EXPECT_THAT(first.input_ids, ElementsAre(kClassify, 5, 6, kSeparator, kPad, kPad, kPad, kPad,  //
                                           kClassify, 6, kSeparator, kPad, kPad, kPad, kPad, kPad));
  EXPECT_THAT(first.targets[kClassTerm].positions, ElementsAre(0, kLength));
  EXPECT_THAT(first.targets[kClassTerm].labels, ElementsAre(1, 0));
  ASSERT_EQ(reading_.warnings().size(), 1U);
  EXPECT_THAT(reading_.warnings()[0], AllOf(HasSubstr("data.train: 1 of 9"), HasSubstr("8 with [CLS]")));
  made->start(1);
  for (int step = 0; step < 2; ++step)
    for (const MicroBatch& micro : made->next().micro_batches)
      for (int s = 0; s < micro.sequences; ++s) {
        const auto row = std::span(micro.input_ids).subspan(static_cast<std::size_t>(s * kLength), kLength);
        EXPECT_EQ(row[static_cast<std::size_t>(micro.valid_lengths[static_cast<std::size_t>(s)] - 1)],
                  kSeparator);
      }
}

TEST_F(ClassifyTaskTest, TheHighestLogitIsThePrediction) {
  const auto made = task();
  Sums scores(made->score_count(), 0.0);
  MicroBatch batch;
  batch.targets[kClassTerm].labels = {1, 0, 1};
  made->score(batch, {2, {-3, -1, 0.5, 0.25, 2, 1}}, scores);
  EXPECT_THAT(scores, ElementsAre(1, 2, 1, 2, 1, 1));
}

TEST_F(ClassifyTaskTest, MetricsAreMeansOverAllSentencesOfAllRanks) {
  Sums totals(2, 0.0);  // of each class
  for (int rank = 0; rank < 2; ++rank)
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += task(rank, 2)->held_out().totals[i];
  const auto made = task();
  LossSums losses;
  losses[kClassTerm] = {3.5, 5, 4};
  // Of 5 sentences 2 are of class 0, one of which is taken for class 1.
  EXPECT_THAT(made->findings({totals, losses, {2, 1, 1, 3, 4, 3}}).metrics,
              ElementsAre(Pair("eval/loss", DoubleEq(0.7)), Pair("eval/accuracy", DoubleEq(0.8)),
                          Pair("eval/f1", DoubleEq(600.0 / 7)),
                          Pair("eval/matthews_correlation", DoubleEq(3 / std::sqrt(24))),
                          Pair("eval/majority_accuracy", DoubleEq(0.6))));
  EXPECT_FLOAT_EQ(made->scales({6, 2})[kClassTerm], 0.125F);
  EXPECT_THAT(made->training_metrics({6, 2}, losses), ElementsAre(Pair("train/loss", DoubleEq(3.5 / 8))));
}

// Of equal logits the first is the prediction, in every metric.
TEST_F(ClassifyTaskTest, EqualLogitsPredictTheFirstClass) {
  const auto made = task();
  Sums scores(made->score_count(), 0.0);
  MicroBatch batch;
  batch.targets[kClassTerm].labels = {1, 0};
  made->score(batch, {2, {0.5, 0.5, 2, 2}}, scores);
  LossSums losses;
  losses[kClassTerm] = {1, 2, 2};  // where both are the likeliest
  const Metrics metrics = made->findings({{1, 1}, losses, scores}).metrics;
  EXPECT_THAT(metrics, testing::Contains(Pair("eval/accuracy", 0.5)));
  EXPECT_THAT(metrics, testing::Contains(Pair("eval/f1", 0.0)));
}

TEST_F(ClassifyTaskTest, AMeanIsOverTheWeightsOfItsSentences) {
  spec_.training.classify.class_weights = {0.5, 3};
  const auto weighted = task();
  EXPECT_FLOAT_EQ(weighted->scales({4, 1})[kClassTerm], 0.2F);
  EXPECT_EQ(weighted->scales({0, 0})[kClassTerm], 0.0F);
  LossSums losses;
  losses[kClassTerm] = {10, 5, 4};
  EXPECT_THAT(weighted->training_metrics({4, 1}, losses), ElementsAre(Pair("train/loss", DoubleEq(2))));
  EXPECT_THAT(weighted->training_metrics({0, 0}, losses), ElementsAre()) << "there is no mean of no weight";
  for (const std::vector<double>& wrong : {std::vector<double>{1, 2, 3}, {0, 0}}) {
    spec_.training.classify.class_weights = wrong;
    EXPECT_THROW(task(), Failure);
  }
}

// Of the nine sentences three are x and six y.
TEST_F(ClassifyTaskTest, BalancedClassesWeighTheSameAltogether) {
  spec_.training.classify.balanced = true;
  EXPECT_THAT(class_weights(ClassifyText(spec_, folder_.path(), reading_).training, spec_.training.classify),
              ElementsAre(1.5F, 0.75F));
  spec_.training.classify.labels = {"y", "z", "x"};
  EXPECT_THAT(class_weights(ClassifyText(spec_, folder_.path(), reading_).training, spec_.training.classify),
              ElementsAre(0.5F, 0.0F, 1.0F));
  EXPECT_THAT(reading_.warnings(), testing::Contains(HasSubstr("no sentence has the label z")));
}

TEST_F(ClassifyTaskTest, PairsHaveTypesAndTheLabelsOfTheSpecAreKept) {
  spec_.training.classify.pair = ColumnSpec{"other"};
  spec_.training.classify.labels = {"y", "x"};
  write("train.tsv", "sentence\tother\tlabel\na\tb c\tx\nb a b a b\tc c\ty\n");
  write("held-out.tsv", "sentence\tother\tlabel\na\tb c\tx\nb a b a b\tc c\ty\n");
  const TaskSource source = this->source();
  EXPECT_THAT(source.labels, ElementsAre("y", "x"));
  const auto made = source.make(spec_.training);
  const MicroBatch& batch = made->held_out().micro_batches.at(0);
  EXPECT_THAT(batch.input_ids, ElementsAre(kClassify, 5, kSeparator, 6, 7, kSeparator, kPad, kPad,  //
                                           kClassify, 6, 5, 6, kSeparator, 7, 7, kSeparator));
  EXPECT_THAT(batch.token_types, ElementsAre(0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1));
  EXPECT_THAT(batch.valid_lengths, ElementsAre(6, 8));
  EXPECT_THAT(batch.targets[kClassTerm].labels, ElementsAre(1, 0));
  ASSERT_EQ(reading_.warnings().size(), 2U);
  EXPECT_THAT(reading_.warnings()[0], HasSubstr("data.train: 1 of 2 pairs"));
}

TEST_F(ClassifyTaskTest, RegressionCorrelatesThePredictionsOfAllRanks) {
  spec_.training.classify.regression = true;
  write("train.tsv", "sentence\tlabel\na\t1\nb\t2\nc\t6\n");
  write("held-out.tsv", "sentence\tlabel\na\t1\nb\t2\nc\t4\nd\t9\n");
  EXPECT_THAT(source().labels, ElementsAre());
  Sums totals(2, 0.0), scores(4, 0.0);
  for (int rank = 0; rank < 2; ++rank) {
    const auto made = task(rank, 2);
    ASSERT_EQ(made->score_count(), 4U);
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += made->held_out().totals[i];
    for (const MicroBatch& micro : made->held_out().micro_batches) {
      EXPECT_TRUE(micro.targets[kClassTerm].labels.empty());
      Predictions predictions{1, {}};
      for (const float value : micro.targets[kClassTerm].values) predictions.values.push_back(value * value);
      made->score(micro, predictions, scores);
    }
  }
  EXPECT_THAT(scores, ElementsAre(1, 4, 16, 81));
  LossSums losses;
  losses[kClassTerm] = {6, 4, 0};
  // Means 4 and 25.5; the training text's mean is 3.
  const double covariance = 3 * 24.5 + 2 * 21.5 + 0 + 5 * 55.5;
  const double spread = std::sqrt((9 + 4 + 0 + 25) * (24.5 * 24.5 + 21.5 * 21.5 + 9.5 * 9.5 + 55.5 * 55.5));
  EXPECT_THAT(
      task()->findings({totals, losses, scores}).metrics,
      ElementsAre(Pair("eval/loss", DoubleEq(1.5)), Pair("eval/pearson", DoubleEq(covariance / spread)),
                  Pair("eval/spearman", DoubleEq(1)),
                  Pair("eval/mean_value_loss", DoubleEq((4 + 1 + 1 + 36) / 4.0))));
  EXPECT_FLOAT_EQ(task()->scales({8, 5})[kClassTerm], 0.125F);
}

}  // namespace
}  // namespace podium
