#include "worker/data/pretraining_dataset.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/worker/data/corpus_fixture.h"

namespace podium {
namespace {

class DatasetTest : public testing::Test {
 protected:
  PretrainingDataset dataset(std::uint64_t seed = 1) const {
    return {made_.corpus, made_.tokenizer.vocabulary(), {64, {0.15, 10, false}, seed}};
  }

  MadeUpCorpus made_;
};

bool same(const PretrainingSample& a, const PretrainingSample& b) {
  return a.ids == b.ids && a.first_of_b == b.first_of_b && a.masked.positions == b.masked.positions &&
         a.masked.labels == b.masked.labels && a.random_next == b.random_next;
}

TEST_F(DatasetTest, ASampleDoesNotDependOnWhatWasAskedBefore) {
  PretrainingDataset forward = dataset();
  const std::int64_t several_epochs = 3 * forward.first_epoch_size() + 5;
  std::vector<PretrainingSample> samples;
  for (std::int64_t i = 0; i < several_epochs; ++i) samples.push_back(forward.sample(i));
  PretrainingDataset backward = dataset();
  for (std::int64_t i = several_epochs; i-- > 0;)
    ASSERT_TRUE(same(samples[static_cast<std::size_t>(i)], backward.sample(i))) << i;
}

TEST_F(DatasetTest, SeedsAndEpochsDiffer) {
  PretrainingDataset one = dataset(1);
  PretrainingDataset two = dataset(2);
  const std::int64_t size = one.first_epoch_size();
  int equal = 0;
  for (std::int64_t i = 0; i < size; ++i)
    equal += same(one.sample(i), two.sample(i)) + same(one.sample(i), one.sample(size + i));
  EXPECT_LT(equal, size / 10);
}

// The pair before it was corrupted.
std::vector<std::int32_t> restored(const PretrainingSample& sample) {
  std::vector<std::int32_t> ids = sample.ids;
  for (std::size_t i = 0; i < sample.masked.positions.size(); ++i)
    ids[static_cast<std::size_t>(sample.masked.positions[i])] = sample.masked.labels[i];
  return ids;
}

// Masks are drawn anew for every sample, so samples of two epochs differ even where their pairs are the same
// in the same order. Here whole documents fit, so that a true pair is what the plan says and nothing else.
TEST_F(DatasetTest, AnotherEpochHasOtherPairsInAnotherOrder) {
  PretrainingDataset data(made_.corpus, made_.tokenizer.vocabulary(), {512, {0.15, 10, false}, 1});
  const std::int64_t size = data.first_epoch_size();
  std::vector<PretrainingSample> first;
  for (std::int64_t i = 0; i < size; ++i) first.push_back(data.sample(i));
  int true_pairs = 0;
  int equal = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    if (first[static_cast<std::size_t>(i)].random_next) continue;
    ++true_pairs;
    equal += restored(first[static_cast<std::size_t>(i)]) == restored(data.sample(size + i));
  }
  ASSERT_GT(true_pairs, size / 10);
  EXPECT_LT(equal, true_pairs / 4);
}

TEST_F(DatasetTest, SamplesHaveBertsForm) {
  PretrainingDataset data = dataset();
  const SpecialTokens& special = made_.tokenizer.vocabulary().special();
  for (std::int64_t i = 0; i < data.first_epoch_size(); ++i) {
    const PretrainingSample sample = data.sample(i);
    ASSERT_LE(sample.ids.size(), 64u);
    EXPECT_EQ(sample.ids.front(), special.classify);
    EXPECT_EQ(sample.ids.back(), special.separator);
    EXPECT_EQ(sample.ids[static_cast<std::size_t>(sample.first_of_b) - 1], special.separator);
    EXPECT_LE(sample.masked.positions.size(), 10u);
    EXPECT_EQ(sample.masked.positions.size(), sample.masked.labels.size());
  }
}

}  // namespace
}  // namespace podium
