// BERT with a classifier, or with a head that predicts a value, against the same model in PyTorch (double
// precision): the mean loss, weighted by class, every parameter's gradient, and the outputs of training and
// of inference, with padding and without; and what dropout before the classifier does.
#include <gmock/gmock.h>

#include "tests/worker/infer/small_source.h"
#include "tests/worker/nn/bert_reference.h"
#include "worker/tasks/classify/classify_head.h"
#include "worker/tensor/downloaded.h"

namespace podium::test {
namespace {

constexpr int kSequences = 4;

struct HeadCase {
  std::string name;
  Precision precision;
  bool unpadded;
};

class ClassifyHeadReference : public testing::TestWithParam<HeadCase> {
 protected:
  // `scale` makes a mean of the loss sum.
  void expect_agreement(const HeadPlan& head, const Targets& targets, float scale, const std::string& term,
                        const ReferenceHead& reference_head) {
    const auto& [name, precision, unpadded] = GetParam();
    const double tolerance = precision == Precision::fp32 ? 1e-5 : 2e-2;
    const ModelSpec spec = small_spec(ModelFamily::bert);
    LoneModel lone(spec, {.precision = precision, .unpadded = unpadded, .head = head});
    MicroBatch batch = random_batch(spec, kSequences, 11);
    batch.targets = {targets};
    const auto reference = run_reference(spec, lone.model->parameters(), batch, reference_head);
    if (!reference) GTEST_SKIP() << "skipped: /usr/bin/python3 has no PyTorch (Debian package python3-torch)";
    const Pass pass{batch, {scale}, {}, true};
    const LossSums losses = forward(*lone.model, pass);
    backward(*lone.model, pass);
    const double expected = reference->losses.at(term);
    EXPECT_NEAR(scale * losses[kClassTerm].loss, expected, tolerance * expected);
    EXPECT_EQ(losses[kClassTerm].count, kSequences);
    expect_gradients(lone.model->parameters(), *reference, tolerance);
    const std::vector<float> outputs =
        downloaded(lone.context, lone.model->forward(0, 0, {batch, {}, {}, false}, {}));
    ASSERT_EQ(outputs.size(), reference->predictions.size());
    EXPECT_LE(distance(outputs, reference->predictions), tolerance * norm(reference->predictions));
    expect_inferred(spec, lone.model->parameters(), batch, reference->predictions);
  }

  static void expect_inferred(const ModelSpec& spec, const ParameterStore& parameters,
                              const MicroBatch& batch, const std::vector<float>& expected) {
    Context context{.threads = 2};
    BertWeights weights = make_bert_weights(context, source_of(spec, parameters), {});
    BertSession session(context, weights, {batch.sequences, batch.length, 0});
    session.set_inputs({batch.input_ids, batch.token_types, batch.valid_lengths, {}});
    session.run();
    const std::vector<float> outputs = downloaded(context, session.class_logits());
    ASSERT_EQ(outputs.size(), expected.size());
    EXPECT_LE(distance(outputs, expected), 1e-5 * norm(expected)) << "of inference";
  }

  static int length() { return random_batch(small_spec(ModelFamily::bert), kSequences, 11).length; }
};

TEST_P(ClassifyHeadReference, WeightedClassesAgree) {
  const std::vector<std::int32_t> labels{2, 0, 1, 2}, weights{1, 4, 2};
  expect_agreement(classify_head(3, 0, {1, 4, 2}), sequence_targets(labels, length()), 1.0F / (2 + 1 + 4 + 2),
                   "class", {"classes", {{"labels", labels}, {"class_weights", weights}}, {{"class", 1.0F}}});
}

TEST_P(ClassifyHeadReference, ValuesAgree) {
  expect_agreement(classify_head(0), sequence_values({3, -1, 0, 2}, length()), 1.0F / kSequences, "value",
                   {"value", {{"values", {3, -1, 0, 2}}}, {{"value", 1.0F}}});
}

INSTANTIATE_TEST_SUITE_P(Cases, ClassifyHeadReference,
                         testing::Values(HeadCase{"fp32", Precision::fp32, false},
                                         HeadCase{"fp32_unpadded", Precision::fp32, true},
                                         HeadCase{"bf16", Precision::bf16, false}),
                         [](const auto& tested) { return tested.param.name; });

// The model has no dropout but the head's.
struct Dropped {
  double loss = 0;
  std::vector<float> gradients;
};

Dropped train_once(double dropout, std::int64_t step, std::int64_t first_sample, bool unpadded = false) {
  const ModelSpec spec = small_spec(ModelFamily::bert);
  LoneModel lone(spec, {.unpadded = unpadded, .head = classify_head(3, dropout)});
  MicroBatch batch = random_batch(spec, kSequences, 11);
  batch.first_sample = first_sample;
  batch.targets = {sequence_targets({2, 0, 1, 2}, batch.length)};
  const Pass pass{batch, {1.0F}, {5, step}, true};
  Dropped result;
  result.loss = forward(*lone.model, pass)[kClassTerm].loss;
  backward(*lone.model, pass);
  const auto gradients = lone.model->parameters().gradients();
  result.gradients.assign(gradients.begin(), gradients.end());
  return result;
}

TEST(ClassifyHeadDropout, DrawsByStepAndSequenceAndByNothingElse) {
  const Dropped first = train_once(0.5, 1, 0);
  EXPECT_EQ(train_once(0.5, 1, 0).gradients, first.gradients);
  EXPECT_NE(train_once(0.5, 2, 0).loss, first.loss);
  EXPECT_NE(train_once(0.5, 1, kSequences).loss, first.loss);
  EXPECT_NE(train_once(0, 1, 0).loss, first.loss);
  EXPECT_NEAR(train_once(0.5, 1, 0, true).loss, first.loss, 1e-5 * first.loss);
}

TEST(ClassifyHeadDropout, AGradientIsThatOfTheFormulaWithTheSameMask) {
  const ModelSpec spec = small_spec(ModelFamily::bert);
  constexpr double kDropout = 0.5;
  LoneModel lone(spec, {.head = classify_head(3, kDropout)});
  ParameterStore& store = lone.model->parameters();
  MicroBatch batch = random_batch(spec, kSequences, 11);
  batch.targets = {sequence_targets({2, 0, 1, 2}, batch.length)};
  const Pass pass{batch, {1.0F}, {5, 1}, true};
  const auto loss = [&] { return forward(*lone.model, pass)[kClassTerm].loss; };
  loss();
  backward(*lone.model, pass);
  const std::vector<float> gradients(store.gradients().begin(), store.gradients().end());
  for (const char* name : {"classifier.weight", "bert.pooler.dense.weight"}) {
    const Parameter& parameter = *store.find(name);
    const std::vector<float> gradient = part_of(gradients, parameter);
    std::vector<float> central;
    for (std::int64_t i = 0; i < parameter.size(); i += 7) {  // finite differences, through the same masks
      constexpr float kStep = 1e-2F;
      float& weight = store.weights(parameter)[static_cast<std::size_t>(i)];
      const float before = weight;
      const auto loss_at = [&](float value) {
        weight = value;
        store.weights_changed();
        return loss();
      };
      const double slope = (loss_at(before + kStep) - loss_at(before - kStep)) / (2 * kStep);
      loss_at(before);
      central.push_back(static_cast<float>(slope));
    }
    std::vector<float> ours;
    for (std::size_t i = 0; i < gradient.size(); i += 7) ours.push_back(gradient[i]);
    EXPECT_GT(norm(ours), 0) << name;
    EXPECT_LE(distance(ours, central), 2e-2 * norm(ours)) << name;
  }
}

}  // namespace
}  // namespace podium::test
