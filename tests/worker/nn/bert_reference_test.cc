// The whole model against the same model in PyTorch (double precision): losses and every parameter's
// gradient.
#include "tests/worker/nn/bert_reference.h"

#include "worker/nn/activation_ranges.h"
#include "worker/nn/pretraining_head.h"

namespace podium::test {
namespace {

constexpr float kMlmScale = 0.03F, kNspScale = 0.2F;
constexpr int kSequences = 3;

ReferenceHead head_of(const MicroBatch& batch) {
  return {"pretraining",
          {{"masked_positions", batch.targets[kLanguageTerm].positions},
           {"masked_labels", batch.targets[kLanguageTerm].labels},
           {"next_sentence_labels", batch.targets[kNextSentenceTerm].labels}},
          {{"mlm", kMlmScale}, {"nsp", kNspScale}}};
}

void expect_same_pass(LoneModel& lone, const MicroBatch& batch, const Reference& reference,
                      double tolerance) {
  const Pass pass{batch, {kMlmScale, kNspScale}, {}, true};
  const LossSums losses = forward(*lone.model, pass);
  backward(*lone.model, pass);
  const double mlm = reference.losses.at("mlm"), nsp = reference.losses.at("nsp");
  EXPECT_NEAR(losses[kLanguageTerm].loss, mlm, tolerance * mlm);
  EXPECT_NEAR(losses[kNextSentenceTerm].loss, nsp, tolerance * nsp);
  EXPECT_EQ(losses[kLanguageTerm].count,
            static_cast<std::int64_t>(batch.targets[kLanguageTerm].labels.size()));
  EXPECT_EQ(losses[kNextSentenceTerm].count, kSequences);
  expect_gradients(lone.model->parameters(), reference, tolerance);
}

class BertReference : public testing::TestWithParam<Precision> {};

TEST_P(BertReference, LossesAndGradientsAgree) {
  const ModelSpec spec = small_spec(ModelFamily::bert);
  const double tolerance = GetParam() == Precision::fp32 ? 1e-5 : 2e-2;
  LoneModel lone(spec, {.precision = GetParam()});
  ParameterStore& store = lone.model->parameters();
  const MicroBatch batch = random_batch(spec, kSequences, 11);
  const auto reference = run_reference(spec, store, batch, head_of(batch));
  if (!reference) GTEST_SKIP() << "skipped: /usr/bin/python3 has no PyTorch (Debian package python3-torch)";
  expect_same_pass(lone, batch, *reference, tolerance);
}

INSTANTIATE_TEST_SUITE_P(Precisions, BertReference, testing::Values(Precision::fp32, Precision::bf16),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

// Ranges that some inputs exceed. A value that lies between two levels to fp32's rounding may go either way.
TEST(QuantisedBertReference, LossesAndGradientsAgree) {
  constexpr double kTolerance = 2e-2;
  const ModelSpec spec = small_spec(ModelFamily::bert);
  LoneModel lone(spec, {.quantise = QuantiseSpec{}});
  ParameterStore& store = lone.model->parameters();
  const MicroBatch batch = random_batch(spec, kSequences, 11);
  ActivationRanges& ranges = *lone.model->ranges();
  forward(*lone.model, {batch, {}, {}, false});
  ranges.update(lone.world);
  std::vector<float> narrow = ranges.averages();
  for (float& range : narrow) range *= 0.3F;
  ranges.set(narrow);
  const auto reference = run_reference(spec, store, batch, head_of(batch), narrow);
  if (!reference) GTEST_SKIP() << "skipped: /usr/bin/python3 has no PyTorch (Debian package python3-torch)";
  expect_same_pass(lone, batch, *reference, kTolerance);
}

}  // namespace
}  // namespace podium::test
