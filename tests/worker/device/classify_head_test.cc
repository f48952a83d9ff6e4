// The head of classification on the device against the CPU, with dropout before it: loss, gradients and
// outputs of classes with weights, and of a value.
#include "worker/tasks/classify/classify_head.h"

#include "tests/worker/device/device_under_test.h"
#include "tests/worker/nn/small_models.h"
#include "worker/tensor/downloaded.h"

namespace podium::test {
namespace {

constexpr int kTokens = 20;
constexpr double kDropout = 0.25;

class DeviceClasses : public OnDevice {
 protected:
  // Of classes, or without any of values.
  void expect_as_on_cpu(int classes, Precision precision, double tolerance,
                        const std::optional<DistillSpec>& distill = {}) {
    const auto batch = [&](std::uint64_t seed) {
      MicroBatch made = random_batch(small_spec(ModelFamily::bert), 3, seed, kTokens);
      const auto most = static_cast<float>(seed);
      made.targets = {classes > 0 ? sequence_targets({2, 0, static_cast<std::int32_t>(seed) % 3}, kTokens)
                                  : sequence_values({3.5F, -1, most}, kTokens)};
      made.targets[kTaughtClassTerm].values = {most, 0, -1, 2, 3, -most, 0.5F, most, 1};  // of a teacher
      return made;
    };
    const std::vector<float> weights = classes > 0 ? std::vector{0.5F, 3.0F, 1.0F} : std::vector<float>{};
    const ModelOptions exact{.head = classify_head(classes, kDropout, weights, distill)};
    ModelOptions options = exact;
    options.precision = precision;
    const ModelSpec model = small_spec(ModelFamily::bert, 0.1);
    const std::vector<MicroBatch> batches{batch(1), batch(2), batch(3)};  // the last is a replay
    const Outcome cpu = outcome_of(model, exact, batches, kKey, cpu_context());
    const Outcome device = outcome_of(model, options, batches, kKey, device_context());
    for (std::size_t term = 0; term < exact.head->terms.size(); ++term) {
      EXPECT_NEAR(device.losses[term].loss, cpu.losses[term].loss, tolerance * cpu.losses[term].loss);
      EXPECT_EQ(device.losses[term].count, 9);
    }
    EXPECT_LT(worst_error(device.gradients, cpu.gradients), tolerance);
    const auto outputs_of = [&](const ModelOptions& with, Context context) {
      LoneModel lone(small_spec(ModelFamily::bert), with, std::move(context));
      const MicroBatch one = batch(3);
      return downloaded(lone.context, lone.model->forward(0, 0, {one, {}, {}, false}, {}));
    };
    const std::vector<float> expected = outputs_of(exact, cpu_context());
    EXPECT_LT(distance(outputs_of(options, device_context()), expected), tolerance * norm(expected));
  }
};

TEST_F(DeviceClasses, AreToldAsOnTheCpu) { expect_as_on_cpu(3, Precision::fp32, 2e-4); }

TEST_F(DeviceClasses, ValuesArePredictedAsOnTheCpu) { expect_as_on_cpu(0, Precision::fp32, 2e-4); }

TEST_F(DeviceClasses, ATeacherIsLearntFromAsOnTheCpu) {
  const DistillSpec distill{.temperature = 2};
  expect_as_on_cpu(3, Precision::fp32, 2e-4, distill);
  expect_as_on_cpu(3, Precision::bf16, 6e-2, distill);
}

TEST_F(DeviceClasses, AlsoIn16BitsToTheirRounding) {
  expect_as_on_cpu(3, Precision::bf16, 6e-2);
  expect_as_on_cpu(0, Precision::fp16, 2e-2);
}

}  // namespace
}  // namespace podium::test
