// BERT with the head of question answering against the same model in PyTorch (double precision): losses,
// every parameter's gradient, and the scores of the valid positions, with padding and without.
#include "tests/worker/nn/bert_reference.h"
#include "worker/tasks/squad/span_head.h"
#include "worker/tasks/squad/squad_task.h"
#include "worker/tensor/downloaded.h"

namespace podium::test {
namespace {

constexpr int kSequences = 4;
constexpr float kFirstScale = 0.2F, kLastScale = 0.3F;

struct SpanCase {
  std::string name;
  Precision precision;
  bool unpadded;
};

class SpanHeadReference : public testing::TestWithParam<SpanCase> {};

TEST_P(SpanHeadReference, LossesGradientsAndScoresAgree) {
  const auto& [name, precision, unpadded] = GetParam();
  const ModelSpec spec = small_spec(ModelFamily::bert);
  const double tolerance = precision == Precision::fp32 ? 1e-5 : 2e-2;
  LoneModel lone(spec, {.precision = precision, .unpadded = unpadded, .head = span_head()});
  ParameterStore& store = lone.model->parameters();
  MicroBatch batch = random_batch(spec, kSequences, 11);
  const std::vector<std::int32_t> firsts{0, 3, 20, 7}, lasts{0, 9, 29, 7};
  batch.targets = {sequence_targets(firsts, batch.length), sequence_targets(lasts, batch.length)};
  const auto reference = run_reference(spec, store, batch,
                                       {"span",
                                        {{"first_labels", firsts}, {"last_labels", lasts}},
                                        {{"first", kFirstScale}, {"last", kLastScale}}});
  if (!reference) GTEST_SKIP() << "skipped: /usr/bin/python3 has no PyTorch (Debian package python3-torch)";

  const Pass pass{batch, {kFirstScale, kLastScale}, {}, true};
  const LossSums losses = forward(*lone.model, pass);
  backward(*lone.model, pass);
  for (const auto& [term, key] : {std::pair(kFirstTerm, "first"), std::pair(kLastTerm, "last")}) {
    EXPECT_NEAR(losses[term].loss, reference->losses.at(key), tolerance * reference->losses.at(key));
    EXPECT_EQ(losses[term].count, kSequences);
  }
  expect_gradients(store, *reference, tolerance);

  const ConstTensorView scores = lone.model->forward(0, 0, {batch, {}, {}, false}, {});
  const std::vector<float> values = downloaded(lone.context, scores);
  std::vector<float> ours, theirs;
  for (int s = 0; const std::span<const float> one : span_scores(batch, unpadded, values)) {
    const auto expected = reference->predictions.begin() + 2 * batch.length * s++;
    ours.insert(ours.end(), one.begin(), one.end());
    theirs.insert(theirs.end(), expected, expected + std::ssize(one));
  }
  EXPECT_LE(distance(ours, theirs), tolerance * norm(theirs));
}

INSTANTIATE_TEST_SUITE_P(Cases, SpanHeadReference,
                         testing::Values(SpanCase{"fp32", Precision::fp32, false},
                                         SpanCase{"fp32_unpadded", Precision::fp32, true},
                                         SpanCase{"bf16", Precision::bf16, false},
                                         SpanCase{"bf16_unpadded", Precision::bf16, true}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace podium::test
