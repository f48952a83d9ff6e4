// What training relies on beyond right gradients: the same bits in every run, and the same step however it is
// split.
#include "worker/nn/bert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/worker/nn/small_bert.h"

namespace podium::test {
namespace {

constexpr int kLength = 40;
constexpr DropoutKey kKey{.seed = 3, .step = 17, .sample_base = 0};

ModelSpec spec_with_dropout() {
  ModelSpec spec = small_bert_spec();
  spec.dropout = 0.1;
  spec.attention_dropout = 0.2;
  return spec;
}

struct Outcome {
  BertResult result;
  std::vector<float> gradients;
};

// Forward and backward over `batches` in turn, on a fresh model.
Outcome outcome_of(const std::vector<BertBatch>& batches, Precision precision, DropoutKey key = kKey,
                   int threads = 2) {
  Context context{.threads = threads};
  BertForPretraining model(context, spec_with_dropout(), kLength, precision);
  randomise(model.parameters(), 7);
  Outcome total;
  for (const BertBatch& batch : batches) {
    const BertResult part = model.forward_backward(batch, 0.1F, 0.5F, key);
    key.sample_base += batch.sequences;
    total.result.mlm_loss_sum += part.mlm_loss_sum;
    total.result.nsp_loss_sum += part.nsp_loss_sum;
    total.result.mlm_count += part.mlm_count;
    total.result.nsp_count += part.nsp_count;
  }
  const auto gradients = model.parameters().gradients();
  total.gradients.assign(gradients.begin(), gradients.end());
  return total;
}

// Sequences [begin, begin + count) of a batch, as a batch of their own.
BertBatch part_of(const BertBatch& batch, int begin, int count) {
  const auto slice = [](const std::vector<std::int32_t>& values, int from, int size) {
    return std::vector<std::int32_t>(values.begin() + from, values.begin() + from + size);
  };
  BertBatch part{.sequences = count,
                 .length = batch.length,
                 .input_ids = slice(batch.input_ids, begin * batch.length, count * batch.length),
                 .token_types = slice(batch.token_types, begin * batch.length, count * batch.length),
                 .valid_lengths = slice(batch.valid_lengths, begin, count),
                 .masked_positions = {},
                 .masked_labels = {},
                 .next_sentence_labels = slice(batch.next_sentence_labels, begin, count)};
  for (std::size_t i = 0; i < batch.masked_positions.size(); ++i) {
    const std::int32_t position = batch.masked_positions[i] - begin * batch.length;
    if (position < 0 || position >= count * batch.length) continue;
    part.masked_positions.push_back(position);
    part.masked_labels.push_back(batch.masked_labels[i]);
  }
  return part;
}

double relative_distance(const std::vector<float>& a, const std::vector<float>& b) {
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    error += std::pow(static_cast<double>(a[i]) - b[i], 2);
    norm += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(error / norm);
}

class Bert : public testing::TestWithParam<Precision> {
 protected:
  const BertBatch batch_ = random_batch(small_bert_spec(), 4, kLength, 5);
};

TEST_P(Bert, TwoRunsGiveTheSameBits) {
  const Outcome once = outcome_of({batch_}, GetParam()), again = outcome_of({batch_}, GetParam());
  EXPECT_EQ(once.gradients, again.gradients);
  EXPECT_EQ(once.result.mlm_loss_sum, again.result.mlm_loss_sum);
}

TEST_P(Bert, TheMasksFollowSeedAndStep) {
  const Outcome base = outcome_of({batch_}, GetParam());
  EXPECT_NE(base.gradients, outcome_of({batch_}, GetParam(), {.seed = 4, .step = 17}).gradients);
  EXPECT_NE(base.gradients, outcome_of({batch_}, GetParam(), {.seed = 3, .step = 18}).gradients);
}

TEST_P(Bert, ASplitBatchMakesTheSameStep) {
  const double tolerance = GetParam() == Precision::fp32 ? 1e-5 : 2e-2;
  const Outcome whole = outcome_of({batch_}, GetParam());
  const Outcome split = outcome_of({part_of(batch_, 0, 1), part_of(batch_, 1, 3)}, GetParam());
  EXPECT_NEAR(split.result.mlm_loss_sum, whole.result.mlm_loss_sum, tolerance * whole.result.mlm_loss_sum);
  EXPECT_NEAR(split.result.nsp_loss_sum, whole.result.nsp_loss_sum, tolerance * whole.result.nsp_loss_sum);
  EXPECT_EQ(split.result.mlm_count, whole.result.mlm_count);
  EXPECT_EQ(split.result.nsp_count, 4);
  EXPECT_LT(relative_distance(split.gradients, whole.gradients), tolerance);
}

TEST_P(Bert, TheThreadCountChangesOnlyRounding) {
  const double tolerance = GetParam() == Precision::fp32 ? 1e-5 : 2e-2;
  EXPECT_LT(relative_distance(outcome_of({batch_}, GetParam(), kKey, 1).gradients,
                              outcome_of({batch_}, GetParam()).gradients),
            tolerance);
}

TEST_P(Bert, EvaluationIsTrainingWithoutDropout) {
  Context context{.threads = 2};
  BertForPretraining model(context, small_bert_spec(), kLength, GetParam());
  randomise(model.parameters(), 7);
  const BertResult evaluated = model.evaluate(batch_);
  for (const float g : model.parameters().gradients()) ASSERT_EQ(g, 0);
  const BertResult trained = model.forward_backward(batch_, 1, 1, kKey);
  EXPECT_NEAR(evaluated.mlm_loss_sum, trained.mlm_loss_sum, 1e-6 * trained.mlm_loss_sum);
  EXPECT_NEAR(evaluated.nsp_loss_sum, trained.nsp_loss_sum, 1e-6 * trained.nsp_loss_sum);
  EXPECT_EQ(evaluated.mlm_correct, trained.mlm_correct);
}

TEST_P(Bert, FollowingTheGradientLowersTheLoss) {
  Context context{.threads = 2};
  BertForPretraining model(context, spec_with_dropout(), kLength, GetParam());
  model.parameters().initialise(1, 0.02);
  const double before = model.evaluate(batch_).mlm_loss_sum;
  for (int step = 0; step < 20; ++step) {
    model.parameters().clear_gradients();
    model.forward_backward(batch_, 0.05F, 0.25F, {.seed = 1, .step = step});
    const auto weights = model.parameters().weights(), gradients = model.parameters().gradients();
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= 0.05F * gradients[i];
    model.parameters().weights_changed();
  }
  EXPECT_LT(model.evaluate(batch_).mlm_loss_sum, 0.8 * before);
}

TEST_P(Bert, AnnouncesFinalGradientsFromTheEndToTheBeginning) {
  Context context{.threads = 2};
  BertForPretraining model(context, spec_with_dropout(), kLength, GetParam());
  randomise(model.parameters(), 7);
  const auto gradients = model.parameters().gradients();
  std::vector<float> announced(gradients.size());
  auto expected_end = static_cast<std::int64_t>(gradients.size());
  model.forward_backward(batch_, 1, 1, kKey, [&](std::int64_t begin, std::int64_t end) {
    EXPECT_EQ(end, expected_end);
    EXPECT_LT(begin, end);
    expected_end = begin;
    std::copy(gradients.begin() + begin, gradients.begin() + end, announced.begin() + begin);
  });
  EXPECT_EQ(expected_end, 0);
  EXPECT_TRUE(std::ranges::equal(announced, gradients));
}

INSTANTIATE_TEST_SUITE_P(Precisions, Bert, testing::Values(Precision::fp32, Precision::bf16),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

TEST(BertSpec, BertLargeHasThePublishedNumberOfParameters) {
  Context context;
  ModelSpec spec;
  spec.layers = 24;
  spec.hidden = 1024;
  spec.heads = 16;
  spec.intermediate = 4096;
  spec.vocab = 30522;
  spec.max_positions = 512;
  BertForPretraining model(context, spec, 128, Precision::fp32);
  EXPECT_EQ(model.parameters().parameter_count(), 336226108);
}

TEST(BertSpec, RefusesWhatItCannotCompute) {
  Context context;
  ModelSpec spec = small_bert_spec();
  EXPECT_THROW(BertForPretraining(context, spec, spec.max_positions + 1, Precision::fp32),
               std::invalid_argument);
  spec.heads = 5;
  EXPECT_THROW(BertForPretraining(context, spec, kLength, Precision::fp32), std::invalid_argument);
}

}  // namespace
}  // namespace podium::test
