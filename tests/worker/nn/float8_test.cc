// Models whose layers multiply in FP8, against 16 bits and against what must make no difference.
#include <gtest/gtest.h>

#include "tests/worker/nn/small_models.h"
#include "worker/nn/pretraining_head.h"

namespace podium::test {
namespace {

class Float8Model : public testing::TestWithParam<std::tuple<ModelFamily, Precision>> {
 protected:
  ModelSpec spec() const { return small_spec(std::get<0>(GetParam()), 0.1); }
  ModelOptions options(bool fp8) const { return {.precision = std::get<1>(GetParam()), .fp8 = fp8}; }
  Outcome outcome(const ModelOptions& options) const {
    return outcome_of(spec(), options, {random_batch(spec(), 3, 1), random_batch(spec(), 2, 2)});
  }
};

// E4M3 rounds by up to 2^-4, E5M2 by up to 2^-3, and errors of many terms cancel for the most part. Llama's
// gate multiplies two products that are rounded so.
TEST_P(Float8Model, StaysCloseToSixteenBits) {
  const Outcome half = outcome(options(false)), eight = outcome(options(true));
  EXPECT_NE(eight.losses[kLanguageTerm].loss, half.losses[kLanguageTerm].loss);
  EXPECT_NEAR(eight.losses[kLanguageTerm].loss, half.losses[kLanguageTerm].loss,
              1e-2 * half.losses[kLanguageTerm].loss);
  EXPECT_LT(worst_error(eight.gradients, half.gradients), spec().family == ModelFamily::llama ? 0.3 : 0.25);
}

TEST_P(Float8Model, GivesTheSameBitsInEveryRunAndRecomputed) {
  const Outcome first = outcome(options(true)), again = outcome(options(true));
  ModelOptions recomputing = options(true);
  recomputing.recompute = Recompute::full;
  const Outcome recomputed = outcome(recomputing);
  EXPECT_EQ(again.gradients, first.gradients);
  EXPECT_EQ(recomputed.gradients, first.gradients);
  EXPECT_EQ(recomputed.losses[kLanguageTerm].loss, first.losses[kLanguageTerm].loss);
}

INSTANTIATE_TEST_SUITE_P(All, Float8Model,
                         testing::Combine(testing::Values(ModelFamily::bert, ModelFamily::gpt,
                                                          ModelFamily::llama),
                                          testing::Values(Precision::bf16, Precision::fp16)),
                         [](const auto& instance) {
                           return std::string(to_string(std::get<0>(instance.param))) + "_" +
                                  std::string(to_string(std::get<1>(instance.param)));
                         });

TEST(Float8Options, NeedSixteenBitsAndMultiplesOfSixteen) {
  ModelSpec spec = small_spec(ModelFamily::bert);
  EXPECT_THROW(LoneModel(spec, {.precision = Precision::fp32, .fp8 = true}), std::invalid_argument);
  spec.intermediate = 136;
  EXPECT_THROW(LoneModel(spec, {.precision = Precision::bf16, .fp8 = true}), std::invalid_argument);
  EXPECT_NO_THROW(LoneModel(spec, {.precision = Precision::bf16}));
}

}  // namespace
}  // namespace podium::test
