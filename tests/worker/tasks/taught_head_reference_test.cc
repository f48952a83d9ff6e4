// BERT whose head learns from labels and from a teacher, against the same in PyTorch (double precision,
// kl_div): losses and every parameter's gradient, with padding and without.
#include "tests/worker/nn/bert_reference.h"
#include "worker/tasks/classify/classify_head.h"
#include "worker/tasks/squad/span_head.h"
#include "worker/tensor/downloaded.h"

namespace podium::test {
namespace {

constexpr int kSequences = 4;
constexpr DistillSpec kDistill{.temperature = 2.5};
constexpr double kTolerance = 1e-5;

// What another model scores.
std::vector<float> scores_of_another(const ModelSpec& spec, const HeadPlan& head, bool unpadded,
                                     const MicroBatch& batch) {
  LoneModel other(spec, {.unpadded = unpadded, .head = head});
  randomise(other.model->parameters(), 99);
  return downloaded(other.context, other.model->forward(0, 0, {batch, {}, {}, false}, {}));
}

class TaughtHeadReference : public testing::TestWithParam<bool> {
 protected:
  // `terms`: what the head's are called there. `reference` lacks scales and the teacher.
  void expect_agreement(const HeadPlan& head, MicroBatch batch, const std::vector<std::string>& terms,
                        ReferenceHead reference_head) {
    const bool unpadded = GetParam();
    const ModelSpec spec = small_spec(ModelFamily::bert);
    reference_head.teacher = scores_of_another(spec, head, false, batch);
    reference_head.temperature = kDistill.temperature;
    head.take_scores(scores_of_another(spec, head, unpadded, batch), batch);
    LossScales scales{};
    for (std::size_t term = 0; term < terms.size(); ++term) {
      scales[term] = 0.1F + 0.1F * static_cast<float>(term);
      reference_head.scales[terms[term]] = scales[term];
    }
    LoneModel lone(spec, {.unpadded = unpadded, .head = head});
    const auto reference = run_reference(spec, lone.model->parameters(), batch, reference_head);
    if (!reference) GTEST_SKIP() << "skipped: /usr/bin/python3 has no PyTorch (Debian package python3-torch)";
    const Pass pass{batch, scales, {}, true};
    const LossSums losses = forward(*lone.model, pass);
    backward(*lone.model, pass);
    for (std::size_t term = 0; term < terms.size(); ++term) {
      const double expected = reference->losses.at(terms[term]);
      EXPECT_NEAR(losses[term].loss, expected, kTolerance * expected) << terms[term];
      EXPECT_EQ(losses[term].count, kSequences);
    }
    expect_gradients(lone.model->parameters(), *reference, kTolerance);
  }

  static MicroBatch batch() { return random_batch(small_spec(ModelFamily::bert), kSequences, 11); }
};

TEST_P(TaughtHeadReference, ClassesAgree) {
  const std::vector<std::int32_t> labels{2, 0, 1, 2};
  MicroBatch one = batch();
  one.targets = {sequence_targets(labels, one.length)};
  expect_agreement(classify_head(3, 0, {}, kDistill), one, {"class", "taught_class"},
                   {"taught_classes", {{"labels", labels}}, {}});
}

TEST_P(TaughtHeadReference, SpansAgree) {
  const std::vector<std::int32_t> firsts{0, 3, 20, 7}, lasts{0, 9, 29, 7};
  MicroBatch one = batch();
  one.targets = {sequence_targets(firsts, one.length), sequence_targets(lasts, one.length)};
  expect_agreement(span_head(kDistill), one, {"first", "last", "taught_first", "taught_last"},
                   {"taught_span", {{"first_labels", firsts}, {"last_labels", lasts}}, {}});
}

INSTANTIATE_TEST_SUITE_P(Padding, TaughtHeadReference, testing::Bool(), [](const auto& tested) {
  return std::string(tested.param ? "unpadded" : "padded");
});

}  // namespace
}  // namespace podium::test
