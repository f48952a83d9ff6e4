// Training in FP8 beside training in bf16: BERT-mini and a GPT of its shape learn a handful of sequences.
#include <gtest/gtest.h>

#include "tests/worker/nn/small_models.h"
#include "worker/nn/pretraining_head.h"
#include "worker/train/engine.h"
#include "worker/train/optimizer.h"

namespace podium::test {
namespace {

constexpr int kSteps = 40, kSequences = 4, kTokens = 24;

ModelSpec mini(ModelFamily family) {
  ModelSpec spec;
  spec.family = family;
  spec.layers = 4;
  spec.hidden = 256;
  spec.heads = 4;
  spec.intermediate = 1024;
  spec.vocab = 400;
  spec.max_positions = kTokens;
  return spec;
}

// The loss of each token, of every step.
std::vector<double> losses_of(ModelFamily family, const ModelOptions& options) {
  const ModelSpec spec = mini(family);
  LoneModel lone(spec, options);
  ParameterStore& parameters = lone.model->parameters();
  parameters.initialise(1, spec.initializer_range);
  Engine engine(lone.context, *lone.model, lone.groups);
  const auto optimizer = make_optimizer({.name = OptimizerKind::adamw}, parameters, lone.context);
  const std::vector<MicroBatch> batches{random_batch(spec, kSequences, 1, kTokens)};
  // At the others' rate Llama knows the batch by heart before the end, and tiny losses are not alike.
  const double rate = family == ModelFamily::llama ? 3e-4 : 1e-3;
  const float scale = 1.0F / static_cast<float>(batches[0].targets[kLanguageTerm].labels.size());
  std::vector<double> losses;
  for (int step = 1; step <= kSteps; ++step) {
    engine.train(batches, {scale, 1.0F / kSequences}, {.seed = 1, .step = step},
                 [](std::int64_t, std::int64_t) {});
    const LossSums sums = engine.take_losses();
    losses.push_back(sums[kLanguageTerm].loss / static_cast<double>(sums[kLanguageTerm].count));
    optimizer->update(parameters, step, rate, clip_factor(optimizer->gradient_norm(parameters), 1.0));
  }
  return losses;
}

class Float8Training : public testing::TestWithParam<ModelFamily> {};

TEST_P(Float8Training, LearnsAsInSixteenBits) {
  const std::vector<double> half = losses_of(GetParam(), {.precision = Precision::bf16});
  const std::vector<double> eight = losses_of(GetParam(), {.precision = Precision::bf16, .fp8 = true});
  ASSERT_LT(half.back(), 0.7 * half.front()) << "there is nothing to compare where nothing is learnt";
  for (std::size_t i = 0; i < half.size(); ++i)
    EXPECT_NEAR(eight[i], half[i], 0.05 * half[i]) << "step " << i + 1;
}

INSTANTIATE_TEST_SUITE_P(All, Float8Training,
                         testing::Values(ModelFamily::bert, ModelFamily::gpt, ModelFamily::llama),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

}  // namespace
}  // namespace podium::test
