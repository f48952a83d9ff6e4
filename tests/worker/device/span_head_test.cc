// The head of question answering on the device against the CPU: losses, gradients and scores, with padding
// and without.
#include "worker/tasks/squad/span_head.h"

#include "tests/worker/device/device_under_test.h"
#include "tests/worker/nn/small_models.h"
#include "worker/tasks/squad/squad_task.h"
#include "worker/tensor/downloaded.h"

namespace podium::test {
namespace {

constexpr int kTokens = 20;

class DeviceSpans : public OnDevice {
 protected:
  // With a teacher's scores of it.
  static MicroBatch batch(std::uint64_t seed) {
    MicroBatch made = random_batch(small_spec(ModelFamily::bert), 2, seed, kTokens);
    made.targets = {sequence_targets({0, 5}, kTokens), sequence_targets({0, 9}, kTokens)};
    Random random(seed, 1);
    for (const std::size_t term : {kTaughtFirstTerm, kTaughtLastTerm})
      for (int row = 0; row < 2 * kTokens; ++row)
        made.targets[term].values.push_back(static_cast<float>(random.normal()));
    return made;
  }
  static std::vector<float> scores_of(const ModelOptions& options, Context context) {
    LoneModel lone(small_spec(ModelFamily::bert), options, std::move(context));
    const MicroBatch one = batch(3);
    const std::vector<float> values =
        downloaded(lone.context, lone.model->forward(0, 0, {one, {}, {}, false}, {}));
    std::vector<float> valid;
    for (const std::span<const float> of_sequence : span_scores(one, options.unpadded, values))
      valid.insert(valid.end(), of_sequence.begin(), of_sequence.end());
    return valid;
  }
  // The CPU computes in f32.
  void expect_as_on_cpu(ModelOptions options, double tolerance,
                        const std::optional<DistillSpec>& distill = {}) {
    options.head = span_head(distill);
    ModelOptions exact = options;
    exact.precision = Precision::fp32;
    const ModelSpec model = small_spec(ModelFamily::bert, 0.1);
    const std::vector<MicroBatch> batches{batch(1), batch(2), batch(2), batch(1)};  // the last are replays
    const Outcome cpu = outcome_of(model, exact, batches, kKey, cpu_context());
    const Outcome device = outcome_of(model, options, batches, kKey, device_context());
    for (std::size_t term = 0; term < options.head->terms.size(); ++term) {
      EXPECT_GT(cpu.losses[term].loss, 0);
      EXPECT_NEAR(device.losses[term].loss, cpu.losses[term].loss, tolerance * cpu.losses[term].loss);
      EXPECT_EQ(device.losses[term].count, 8);
    }
    EXPECT_LT(worst_error(device.gradients, cpu.gradients), tolerance);
    const std::vector<float> expected = scores_of(exact, cpu_context());
    EXPECT_LT(distance(scores_of(options, device_context()), expected), tolerance * norm(expected));
  }
};

TEST_F(DeviceSpans, AreScoredAsOnTheCpu) { expect_as_on_cpu({}, 2e-4); }

TEST_F(DeviceSpans, AlsoWithoutPadding) { expect_as_on_cpu({.unpadded = true}, 2e-4); }

TEST_F(DeviceSpans, LearnFromATeacherAsOnTheCpu) {
  const DistillSpec distill{.temperature = 2};
  expect_as_on_cpu({}, 2e-4, distill);
  expect_as_on_cpu({.unpadded = true}, 2e-4, distill);
  expect_as_on_cpu({.precision = Precision::bf16}, 6e-2, distill);
}

TEST_F(DeviceSpans, AlsoIn16BitsToTheirRounding) {
  expect_as_on_cpu({.precision = Precision::bf16}, 6e-2);
  expect_as_on_cpu({.precision = Precision::fp16, .unpadded = true}, 2e-2);
}

}  // namespace
}  // namespace podium::test
