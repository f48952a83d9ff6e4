// Some steps of training on the device against the CPU.
#include "tests/worker/device/device_under_test.h"
#include "tests/worker/device/trainee.h"

namespace podium::test {
namespace {

constexpr int kSteps = 3;

class DeviceTraining : public OnDevice,
                       public testing::WithParamInterface<std::tuple<ModelFamily, OptimizerKind>> {
 protected:
  void expect_as_on_cpu(Precision precision, double tolerance) {
    const auto [family, kind] = GetParam();
    Trainee cpu(family, Precision::fp32, kind, cpu_context());
    Trainee device(family, precision, kind, device_context());
    const std::vector<float> begin = cpu.weights();
    ASSERT_EQ(device.weights(), begin) << "initial weights do not depend on where they lie";
    for (int i = 0; i < kSteps; ++i) {
      const double expected = cpu.step();
      EXPECT_NEAR(device.step(), expected, tolerance * expected) << "step " << i + 1;
    }
    const std::vector<float> expected = cpu.weights();
    EXPECT_LT(distance(device.weights(), expected), 20 * tolerance * distance(expected, begin));
  }
};

TEST_P(DeviceTraining, GoesAsOnTheCpu) { expect_as_on_cpu(Precision::fp32, 1e-3); }

// Where LAMB has no trust ratio.
TEST_P(DeviceTraining, AlsoWithoutWeightDecay) {
  const auto [family, kind] = GetParam();
  const OptimizerSpec optimizer{.name = kind, .lr = 1e-2, .weight_decay = 0};
  Trainee cpu(family, ModelOptions{}, optimizer, cpu_context());
  Trainee device(family, ModelOptions{}, optimizer, device_context());
  const std::vector<float> begin = cpu.weights();
  for (int i = 0; i < kSteps; ++i) {
    cpu.step();
    device.step();
  }
  const std::vector<float> expected = cpu.weights();
  EXPECT_LT(distance(device.weights(), expected), 2e-2 * distance(expected, begin));
}

TEST_P(DeviceTraining, AlsoIn16BitsToTheirRounding) {
  expect_as_on_cpu(Precision::bf16, 2e-2);
  expect_as_on_cpu(Precision::fp16, 1e-2);
}

TEST_P(DeviceTraining, AlsoInFloat8) {
  const auto [family, kind] = GetParam();
  const ModelOptions options{.precision = Precision::bf16, .fp8 = true};
  Trainee cpu(family, options, kind, cpu_context()), device(family, options, kind, device_context());
  for (int i = 0; i < kSteps; ++i) {
    const double expected = cpu.step();
    EXPECT_NEAR(device.step(), expected, 3e-2 * expected) << "step " << i + 1;
  }
}

// The next forward pass multiplies by them and renews only what it finds outdated.
TEST_P(DeviceTraining, AnUpdateRoundsWeightsIntoTheir16BitCopies) {
  const auto [family, kind] = GetParam();
  Trainee device(family, Precision::bf16, kind, device_context());
  device.step();
  ParameterStore& parameters = device.parameters();
  const auto narrowed = parameters.memory().downloaded<BFloat16>(parameters.narrowed().values<BFloat16>());
  const std::vector<float> weights = device.weights();
  ASSERT_EQ(narrowed.size(), weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    ASSERT_EQ(to_float(narrowed[i]), to_float(to_bfloat16(weights[i]))) << i;
}

INSTANTIATE_TEST_SUITE_P(All, DeviceTraining,
                         testing::Combine(testing::Values(ModelFamily::bert, ModelFamily::gpt,
                                                          ModelFamily::llama),
                                          testing::Values(OptimizerKind::adamw, OptimizerKind::lamb)),
                         [](const auto& instance) {
                           return std::string(to_string(std::get<0>(instance.param))) + "_" +
                                  std::string(to_string(std::get<1>(instance.param)));
                         });

}  // namespace
}  // namespace podium::test
