// Models whose products round as inference in 8 bits does: when inputs are noted, how the averages move, and
// what must make no difference. tests/worker/nn/bert_reference_test.cc holds the rounding to PyTorch.
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "tests/worker/comm/world.h"
#include "tests/worker/nn/small_models.h"
#include "worker/nn/activation_ranges.h"
#include "worker/nn/layer_products.h"

namespace podium::test {
namespace {

using testing::Each;
using testing::Gt;

constexpr double kDecay = 0.75;

class QuantisedModel : public testing::TestWithParam<QuantiseFormat> {
 protected:
  ModelOptions options() const { return {.quantise = QuantiseSpec{GetParam(), kDecay, ""}}; }
  static ActivationRanges& ranges(LoneModel& lone) { return *lone.model->ranges(); }
  static LossSums evaluate(LoneModel& lone, const MicroBatch& batch) {
    return forward(*lone.model, {batch, {}, {}, false});
  }
  static void train(LoneModel& lone, const MicroBatch& batch) {
    const Pass pass{batch, kScales, kKey, true};
    forward(*lone.model, pass);
    backward(*lone.model, pass);
  }
  // What a model that has seen this batch alone notes of its first product, whose input nothing rounds.
  float first_reach(const MicroBatch& batch) const {
    LoneModel lone(spec_, options());
    evaluate(lone, batch);
    ranges(lone).update(lone.world);
    return ranges(lone).averages().front();
  }

  const ModelSpec spec_ = small_spec(ModelFamily::bert);
  const MicroBatch first_ = random_batch(spec_, 3, 1), second_ = random_batch(spec_, 2, 2);
};

TEST_P(QuantisedModel, RoundsNoInputsBeforeItsRangesAreKnown) {
  LoneModel lone(spec_, options());
  EXPECT_FALSE(ranges(lone).known());
  const LossSums before = evaluate(lone, first_), again = evaluate(lone, first_);
  EXPECT_EQ(again[kLanguageTerm].loss, before[kLanguageTerm].loss);
  ranges(lone).update(lone.world);
  EXPECT_TRUE(ranges(lone).known());
  EXPECT_THAT(ranges(lone).averages(), Each(Gt(0)));
  EXPECT_EQ(std::ssize(ranges(lone).averages()), product_count(spec_));
  const double rounded = evaluate(lone, first_)[kLanguageTerm].loss;
  EXPECT_NE(rounded, before[kLanguageTerm].loss);
  EXPECT_NEAR(rounded, before[kLanguageTerm].loss, 0.05 * before[kLanguageTerm].loss);
}

TEST_P(QuantisedModel, RoundsItsWeightsFromTheBegin) {
  LoneModel lone(spec_, options()), exact(spec_, {});
  EXPECT_NE(evaluate(lone, first_)[kLanguageTerm].loss, evaluate(exact, first_)[kLanguageTerm].loss);
}

TEST_P(QuantisedModel, AveragesMoveByWhatTrainingReaches) {
  LoneModel lone(spec_, options());
  evaluate(lone, first_);
  ranges(lone).update(lone.world);
  const float before = ranges(lone).averages().front(), reach = first_reach(second_);
  EXPECT_EQ(before, first_reach(first_));
  ASSERT_NE(reach, before);
  train(lone, second_);
  ranges(lone).update(lone.world);
  EXPECT_FLOAT_EQ(ranges(lone).averages().front(),
                  static_cast<float>(kDecay * before + (1 - kDecay) * reach));
}

TEST_P(QuantisedModel, AStepReachesAsFarAsItsWidestMicroBatch) {
  LoneModel lone(spec_, options());
  evaluate(lone, first_);
  evaluate(lone, second_);
  ranges(lone).update(lone.world);
  EXPECT_EQ(ranges(lone).averages().front(), std::max(first_reach(first_), first_reach(second_)));
}

TEST_P(QuantisedModel, EvaluationAndWhatIsForgottenMoveNothing) {
  LoneModel lone(spec_, options());
  evaluate(lone, first_);
  ranges(lone).update(lone.world);
  const std::vector<float> before = ranges(lone).averages();
  evaluate(lone, second_);
  ranges(lone).update(lone.world);
  EXPECT_EQ(ranges(lone).averages(), before);
  train(lone, second_);
  ranges(lone).forget();
  ranges(lone).update(lone.world);
  EXPECT_EQ(ranges(lone).averages(), before);
}

TEST_P(QuantisedModel, GivesTheSameBitsInEveryRunAndRecomputed) {
  ModelSpec spec = small_spec(ModelFamily::bert, 0.1);
  const std::vector<MicroBatch> batches{random_batch(spec, 3, 1), random_batch(spec, 2, 2)};
  const Outcome first = outcome_of(spec, options(), batches), again = outcome_of(spec, options(), batches);
  ModelOptions recomputing = options();
  recomputing.recompute = Recompute::full;
  const Outcome recomputed = outcome_of(spec, recomputing, batches);
  EXPECT_EQ(again.gradients, first.gradients);
  EXPECT_EQ(recomputed.gradients, first.gradients);
  EXPECT_EQ(recomputed.losses[kLanguageTerm].loss, first.losses[kLanguageTerm].loss);
}

INSTANTIATE_TEST_SUITE_P(All, QuantisedModel, testing::Values(QuantiseFormat::int8, QuantiseFormat::fp8),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

// Ranks see other batches, and one of them may have none, or an overflow.
TEST(ActivationRanges, AreTheWidestOfAllRanks) {
  const ModelSpec spec = small_spec(ModelFamily::bert);
  std::vector<std::vector<float>> averages(2), alone(2);
  std::vector<float> overflown;
  run_threads(2, [&](Communicator& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    LoneModel lone(spec, {.quantise = QuantiseSpec{}}, {.threads = 1}),
        own(spec, {.quantise = QuantiseSpec{}}, {.threads = 1});
    const MicroBatch batch = random_batch(spec, 2, rank + 1);
    for (LoneModel* const each : {&lone, &own}) forward(*each->model, {batch, {}, {}, false});
    own.model->ranges()->update(own.world);
    alone[rank] = own.model->ranges()->averages();
    lone.model->ranges()->update(world);
    averages[rank] = lone.model->ranges()->averages();
    if (rank == 1) {
      lone.model->parameters().weights().front() = std::numeric_limits<float>::infinity();
      lone.model->parameters().weights_changed();
      forward(*lone.model, {batch, kScales, kKey, true});
    }
    lone.model->ranges()->update(world);
    if (rank == 0) overflown = lone.model->ranges()->averages();
  });
  EXPECT_EQ(averages[0], averages[1]);
  for (std::size_t i = 0; i < averages[0].size(); ++i)
    EXPECT_EQ(averages[0][i], std::max(alone[0][i], alone[1][i]));
  EXPECT_THAT(overflown, Each(testing::Lt(1e6F)));
}

TEST(QuantisedOptions, AreForBertAndNotWithFloat8) {
  const auto with = [](ModelFamily family, bool fp8) {
    const ModelOptions options{.precision = Precision::bf16, .fp8 = fp8, .quantise = QuantiseSpec{}};
    LoneModel(small_spec(family), options);
  };
  EXPECT_NO_THROW(with(ModelFamily::bert, false));
  EXPECT_THROW(with(ModelFamily::bert, true), std::invalid_argument);
  EXPECT_THROW(with(ModelFamily::gpt, false), std::invalid_argument);
}

TEST(LayerProducts, AreNamedAsQuantisedFoldersNameThem) {
  const ModelSpec spec = small_spec(ModelFamily::bert);
  EXPECT_EQ(product_name(spec, 0), "bert.encoder.layer.0.attention.self.query_key_value");
  EXPECT_EQ(product_name(spec, 1), "bert.encoder.layer.0.attention.output.dense");
  EXPECT_EQ(product_name(spec, 6), "bert.encoder.layer.1.intermediate.dense");
  EXPECT_EQ(product_name(spec, 7), "bert.encoder.layer.1.output.dense");
}

}  // namespace
}  // namespace podium::test
