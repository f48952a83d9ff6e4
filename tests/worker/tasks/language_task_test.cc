#include "worker/tasks/language/language_task.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "tests/worker/tokenizer/byte_vocabulary.h"
#include "worker/data/failure.h"
#include "worker/input/bad_data.h"
#include "worker/nn/pretraining_head.h"

namespace podium {
namespace {

constexpr int kLength = 16;

std::string letters(int count, int seed) {
  std::string text;
  for (int i = 0; i < count; ++i) text += static_cast<char>('a' + (i * i + seed * i) % 26);
  return text;
}

class LanguageTaskTest : public testing::Test {
 protected:
  LanguageTaskTest() {
    spec_.data.train = {"train.txt"};
    spec_.data.tokenizer.bpe_vocab = "vocab.json";
    spec_.data.tokenizer.bpe_merges = "merges.txt";
    spec_.training.batch = {.global = 12, .micro = 2};
    spec_.training.sequence_length = kLength;
    spec_.evaluate = {.every = 5, .data = "held-out.txt", .sequences = 100};
    write("vocab.json", byte_ids({"a b"}).dump());
    write("merges.txt", "#version: 0.2\na b\n");
    write("train.txt", letters(1000, 1));
    write("held-out.txt", letters(200, 3));
  }

  void write(const std::string& name, const std::string& text) const {
    write_file_atomic(folder_.path() / name, text);
  }

  std::unique_ptr<Task> task(int data_rank = 0, int data_size = 1) const {
    Reading reading;
    return language_task_source(spec_, folder_.path(), reading, data_rank, data_size).make(spec_.training);
  }

  TempFolder folder_;
  JobSpec spec_;
};

// Sequences of a step by their place in the global batch: what is read, what is predicted.
using Rows = std::map<std::int64_t, std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>>;

void add_rows(const TaskBatch& batch, Rows& rows) {
  for (const MicroBatch& micro : batch.micro_batches) {
    std::size_t label = 0;
    for (int s = 0; s < micro.sequences; ++s) {
      auto& [ids, labels] = rows[micro.first_sample + s];
      ASSERT_TRUE(ids.empty()) << "two sequences at one place";
      const auto valid = static_cast<std::size_t>(micro.valid_lengths[static_cast<std::size_t>(s)]);
      const auto begin = micro.input_ids.begin() + s * micro.length;
      ids.assign(begin, begin + static_cast<std::ptrdiff_t>(valid));
      for (std::size_t i = 0; i < valid; ++i, ++label) {
        EXPECT_EQ(micro.targets[kLanguageTerm].positions[label],
                  s * micro.length + static_cast<std::int32_t>(i));
        labels.push_back(micro.targets[kLanguageTerm].labels[label]);
      }
    }
    EXPECT_EQ(label, micro.targets[kLanguageTerm].labels.size());
    EXPECT_EQ(label, micro.targets[kLanguageTerm].positions.size());
    EXPECT_EQ(micro.input_ids.size(), static_cast<std::size_t>(micro.sequences * micro.length));
  }
}

TEST_F(LanguageTaskTest, LabelsAreTheNextTokens) {
  const auto alone = task();
  alone->start(1);
  Rows rows;
  add_rows(alone->next(), rows);
  ASSERT_EQ(rows.size(), 12u);
  for (const auto& [place, row] : rows) {
    const auto& [ids, labels] = row;
    ASSERT_EQ(ids.size(), labels.size());
    EXPECT_TRUE(std::equal(ids.begin() + 1, ids.end(), labels.begin())) << place;
  }
}

// Sample i of a blend is the next of the data set that is furthest behind its share.
TEST_F(LanguageTaskTest, ABlendTakesSamplesOfEachByItsWeight) {
  write("other.txt", letters(300, 7));
  const auto rows_of = [&](const JobSpec& spec, std::int64_t first, int batches) {
    Reading reading;
    const auto made = language_task_source(spec, folder_.path(), reading, 0, 1).make(spec.training);
    made->start(first);
    std::vector<Rows> all(static_cast<std::size_t>(batches));
    for (Rows& rows : all) add_rows(made->next(), rows);
    return all;
  };
  const auto alone = [&](const std::string& file) {
    JobSpec spec = spec_;
    spec.data.train = {file};
    spec.training.batch = {.global = 1, .micro = 1};
    return rows_of(spec, 1, 200);
  };
  const std::vector<std::vector<Rows>> sets{alone("train.txt"), alone("other.txt")};
  spec_.data.train = {"train.txt", "other.txt"};
  spec_.data.weights = {0.75, 0.25};
  const std::vector<Rows> blended = rows_of(spec_, 1, 12);
  std::size_t taken[] = {0, 0};
  for (std::int64_t i = 0; i < 12 * 12; ++i) {
    const double behind[] = {0.75 * std::max(1.0, static_cast<double>(i)) - static_cast<double>(taken[0]),
                             0.25 * std::max(1.0, static_cast<double>(i)) - static_cast<double>(taken[1])};
    const std::size_t set = behind[1] > behind[0] ? 1 : 0;
    EXPECT_EQ(blended[static_cast<std::size_t>(i / 12)].at(i % 12), sets[set][taken[set]++].at(0)) << i;
  }
  EXPECT_EQ(rows_of(spec_, 9, 4), std::vector(blended.begin() + 8, blended.end())) << "resumed";
  Reading reading;
  const auto identity = [&] { return language_task_source(spec_, folder_.path(), reading, 0, 1).text; };
  const TextIdentity then = identity();
  spec_.data.weights = {0.5, 0.5};
  EXPECT_NE(identity(), then) << "other weights are another text";
  spec_.data.weights = {3, 1};
  EXPECT_EQ(identity(), then) << "the same shares are the same text";
  spec_.data.train.resize(257, "train.txt");
  spec_.data.weights.assign(257, 1);
  EXPECT_THROW(identity(), Failure);
  spec_.data.train = {"train.txt", "other.txt"};
  spec_.data.weights = {0.5, 0};
  EXPECT_THROW(identity(), Failure);
}

TEST_F(LanguageTaskTest, AnyNumberOfDataRanksSharesTheSameBatches) {
  for (const int ranks : {1, 2, 3, 6}) {
    std::vector<std::unique_ptr<Task>> tasks;
    for (int rank = 0; rank < ranks; ++rank) tasks.push_back(task(rank, ranks));
    const auto alone = task();
    for (const auto& each : tasks) each->start(1);
    alone->start(1);
    for (int step = 0; step < 12; ++step) {
      Rows shared;
      Rows whole;
      double tokens = 0;
      for (const auto& each : tasks) {
        const TaskBatch batch = each->next();
        EXPECT_EQ(batch.micro_batches.size(), static_cast<std::size_t>(6 / ranks));
        tokens += batch.totals[0];
        add_rows(batch, shared);
      }
      const TaskBatch batch = alone->next();
      add_rows(batch, whole);
      EXPECT_EQ(shared, whole) << ranks << " ranks, step " << step;
      EXPECT_EQ(tokens, batch.totals[0]);
    }
  }
}

TEST_F(LanguageTaskTest, AStepDoesNotDependOnTheStepsBefore) {
  const auto through = task();
  const auto resumed = task();
  through->start(1);
  for (int step = 1; step < 20; ++step) through->next();
  resumed->start(20);
  Rows expected;
  Rows found;
  add_rows(through->next(), expected);
  add_rows(resumed->next(), found);
  EXPECT_EQ(found, expected);
}

TEST_F(LanguageTaskTest, TheHeldOutTextIsPredictedOnceWhateverTheSeedAndTheRanks) {
  Rows alone;
  add_rows(task()->held_out(), alone);
  std::size_t tokens = 0;
  for (const auto& [place, row] : alone) tokens += row.second.size();
  std::string text = letters(200, 3);
  std::size_t pairs = 0;
  for (std::size_t at = 0; (at = text.find("ab", at)) != std::string::npos; ++at) ++pairs;
  EXPECT_EQ(tokens, 200 - pairs);  // end-of-text is one more, the first token is not predicted

  spec_.training.seed = 99;
  Rows shared;
  double total = 0;
  for (int rank = 0; rank < 3; ++rank) {
    const auto part = task(rank, 3);
    add_rows(part->held_out(), shared);
    total += part->held_out().totals[0];
  }
  EXPECT_EQ(shared, alone);
  EXPECT_EQ(total, static_cast<double>(tokens));

  spec_.evaluate.sequences = 4;
  Rows few;
  add_rows(task()->held_out(), few);
  EXPECT_EQ(few.size(), 4u);
  spec_.evaluate.every = 0;
  EXPECT_TRUE(task()->held_out().micro_batches.empty());
}

TEST_F(LanguageTaskTest, MetricsAreMeansOverAllTokens) {
  const auto alone = task();
  const Sums& totals = alone->held_out().totals;
  LossSums losses;
  losses[kLanguageTerm].loss = 2.5 * totals[0];
  losses[kLanguageTerm].correct = static_cast<std::int64_t>(totals[0] / 4);
  std::map<std::string, double> metrics;
  for (const auto& [name, value] : alone->findings({totals, losses, {}}).metrics) metrics[name] = value;
  EXPECT_DOUBLE_EQ(metrics["eval/loss"], 2.5);
  EXPECT_DOUBLE_EQ(metrics["eval/perplexity"], std::exp(2.5));
  EXPECT_NEAR(metrics["eval/accuracy"], 0.25, 0.01);
  EXPECT_DOUBLE_EQ(metrics["eval/gain_over_unigram"], metrics["eval/unigram_loss"] - 2.5);
  EXPECT_EQ(alone->training_metrics({8, 0}, losses).front(),
            (std::pair<std::string, double>{"train/loss", losses[kLanguageTerm].loss / 8}));
  EXPECT_FLOAT_EQ(alone->scales({8, 0})[kLanguageTerm], 0.125F);
  EXPECT_EQ(alone->scales({8, 0})[kNextSentenceTerm], 0.0F);
}

// Frequencies of the training text, add-one smoothed over the whole vocabulary.
TEST_F(LanguageTaskTest, TheUnigramLossIsOfTheTrainingTextsFrequencies) {
  write("train.txt", "aaab");
  write("held-out.txt", "bab");  // 'b' comes first, then 'ab' and end-of-text are predicted
  const Sums totals = task()->held_out().totals;
  const double size = 258 + 4;  // a a ab and end-of-text
  EXPECT_DOUBLE_EQ(totals[0], 2);
  EXPECT_DOUBLE_EQ(totals[1], -2 * std::log(2 / size));
}

TEST_F(LanguageTaskTest, TheSourceTellsTheVocabularyAndReadsTheTextOnce) {
  Reading reading;
  TaskSource source = language_task_source(spec_, folder_.path(), reading, 0, 1);
  EXPECT_EQ(source.vocabulary, 258);
  std::filesystem::remove(folder_.path() / "train.txt");
  TrainingSpec longer = spec_.training;
  longer.sequence_length = 32;
  const auto second = source.make(longer);
  source = {};
  second->start(1);
  EXPECT_EQ(second->next().micro_batches.front().length, 32);
  EXPECT_THROW(task(), BadData);
}

}  // namespace
}  // namespace podium
