// Inference against the trained model's own forward pass, which tests hold to PyTorch, and the precisions
// against each other.
#include "worker/infer/bert_session.h"

#include <gtest/gtest.h>

#include "tests/worker/infer/small_source.h"
#include "worker/data/failure.h"
#include "worker/infer/text_inference.h"
#include "worker/nn/pretraining_head.h"
#include "worker/tensor/downloaded.h"

namespace podium::test {
namespace {

struct Results {
  std::vector<float> hidden, pooled, next_sentence, predictions;
};

struct Bert {
  Bert() : lone(spec, {}), source(source_of(spec, lone.model->parameters())) {}

  Results run(const InferenceOptions& options, const MicroBatch& batch) {
    Context context{.threads = 2};
    BertWeights weights = make_bert_weights(context, source, options);
    BertSession session(context, weights, shape_of(batch));
    session.set_inputs(inference_batch(batch));
    session.run();
    return {downloaded(context, session.hidden()), downloaded(context, session.pooled()),
            downloaded(context, session.next_sentence_logits()),
            downloaded(context, session.prediction_logits())};
  }

  ModelSpec spec = small_spec(ModelFamily::bert);
  LoneModel lone;
  SourceModel source;
};

// The sum of the cross-entropies of rows of logits.
double loss_of(const std::vector<float>& logits, const std::vector<std::int32_t>& labels, int classes) {
  double loss = 0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const float* const from = &logits[row * static_cast<std::size_t>(classes)];
    double sum = 0;
    for (int c = 0; c < classes; ++c) sum += std::exp(static_cast<double>(from[c]));
    loss += std::log(sum) - from[labels[row]];
  }
  return loss;
}

double error_of(const std::vector<float>& found, const std::vector<float>& expected) {
  return distance(found, expected) / norm(expected);
}

TEST(BertSession, GivesTheLossesOfTheTrainedModel) {
  Bert bert;
  const MicroBatch batch = random_batch(bert.spec, 3, 11);
  const LossSums losses = forward(*bert.lone.model, {batch, {}, {}, false});
  const Results results = bert.run({}, batch);
  EXPECT_NEAR(loss_of(results.predictions, batch.targets[kLanguageTerm].labels, bert.spec.vocab),
              losses[kLanguageTerm].loss, 1e-5 * losses[kLanguageTerm].loss);
  EXPECT_NEAR(loss_of(results.next_sentence, batch.targets[kNextSentenceTerm].labels, 2),
              losses[kNextSentenceTerm].loss, 1e-5 * losses[kNextSentenceTerm].loss);
}

TEST(BertSession, SixteenBitsAgreeToTheirRounding) {
  Bert bert;
  const MicroBatch batch = random_batch(bert.spec, 2, 12);
  const Results exact = bert.run({}, batch);
  for (const auto& [precision, bound] :
       {std::pair(InferencePrecision::bf16, 3e-2), std::pair(InferencePrecision::fp16, 4e-3)}) {
    SCOPED_TRACE(to_string(precision));
    const Results results = bert.run({.precision = precision}, batch);
    EXPECT_LT(error_of(results.hidden, exact.hidden), bound);
    EXPECT_LT(error_of(results.pooled, exact.pooled), bound);
    EXPECT_LT(error_of(results.predictions, exact.predictions), bound);
    EXPECT_LT(error_of(results.next_sentence, exact.next_sentence), bound);
  }
}

TEST(BertSession, WhatStandsInThePaddingDoesNotMatter) {
  Bert bert;
  MicroBatch batch = random_batch(bert.spec, 2, 13);
  batch.valid_lengths = {31, 17};
  batch.targets[kLanguageTerm].positions = {5, kLength + 3};
  batch.targets[kLanguageTerm].labels = {1, 2};
  const Results before = bert.run({}, batch);
  for (int s = 0; s < 2; ++s)
    for (int t = batch.valid_lengths[static_cast<std::size_t>(s)]; t < kLength; ++t)
      batch.input_ids[static_cast<std::size_t>(s * kLength + t)] = (7 * t) % bert.spec.vocab;
  const Results after = bert.run({}, batch);
  EXPECT_EQ(before.predictions, after.predictions);
  EXPECT_EQ(before.pooled, after.pooled);
}

TEST(BertSession, ASparseModelIsThatOfThePrunedWeights) {
  Bert bert;
  const MicroBatch batch = random_batch(bert.spec, 2, 14);
  const Results sparse = bert.run({.sparse = true}, batch), dense = bert.run({}, batch);
  for (int layer = 0; layer < bert.spec.layers; ++layer)
    for (const EncoderProduct& product : encoder_products(bert.spec, layer))
      for (const std::string& name : product.layers) {
        std::vector<float>& weight = bert.source.tensors.at(name + ".weight").values;
        const std::vector<float>& bias = bert.source.values(name + ".bias");
        weight = dense_values(make_linear_data(weight, bias, {.sparse = true}));
      }
  const Results pruned = bert.run({}, batch);
  EXPECT_LT(error_of(sparse.predictions, pruned.predictions), 1e-6);
  EXPECT_GT(error_of(sparse.predictions, dense.predictions), 1e-2) << "pruning changes something";
}

TEST(BertSession, ModelsMayLackHeads) {
  Bert bert;
  const MicroBatch batch = random_batch(bert.spec, 1, 15);
  std::erase_if(bert.source.tensors, [](const auto& entry) {
    return entry.first.starts_with("cls.") || entry.first.starts_with("bert.pooler");
  });
  const Results results = bert.run({}, batch);
  EXPECT_FALSE(results.hidden.empty());
  EXPECT_TRUE(results.pooled.empty());
  EXPECT_TRUE(results.next_sentence.empty());
  EXPECT_TRUE(results.predictions.empty());
}

TEST(BertSession, EightBitsNeedRanges) {
  Bert bert;
  const MicroBatch batch = random_batch(bert.spec, 1, 16);
  for (const InferencePrecision precision : {InferencePrecision::int8, InferencePrecision::fp8}) {
    try {
      bert.run({.precision = precision}, batch);
      FAIL() << "computed without ranges";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit, WorkerExit::bad_spec);
      EXPECT_NE(std::string(failure.what()).find("podium-worker calibrate"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace podium::test
