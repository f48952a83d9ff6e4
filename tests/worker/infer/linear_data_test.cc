#include "worker/infer/linear_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "worker/ops/quantised.h"
#include "worker/tensor/random.h"

namespace podium::test {
namespace {

constexpr std::int64_t kOut = 6, kIn = 32;

std::vector<float> random_weight() {
  Random random(3, 4);
  std::vector<float> weight(kOut * kIn);
  for (float& w : weight) w = static_cast<float>(random.normal());
  return weight;
}

LinearData data_of(const std::vector<float>& weight, const LinearFormat& format) {
  return make_linear_data(weight, std::vector<float>(kOut, 0.5F), format);
}

TEST(LinearData, StandsForItsWeightToTheTypesRounding) {
  const std::vector<float> weight = random_weight();
  for (const auto& [type, steps] : {std::pair(DType::f32, 0.0), std::pair(DType::bf16, 0x1p-8),
                                    std::pair(DType::f16, 0x1p-11), std::pair(DType::e4m3, 0x1p-4)}) {
    const std::vector<float> back = dense_values(data_of(weight, {.type = type}));
    for (std::size_t i = 0; i < weight.size(); ++i)
      EXPECT_NEAR(back[i], weight[i], steps * std::abs(weight[i]) + (type == DType::e4m3 ? 1e-4 : 0))
          << to_string(type);
  }
}

TEST(LinearData, IntegersAreWithinHalfAStepOfTheirRowsScale) {
  const std::vector<float> weight = random_weight();
  const LinearData data = data_of(weight, {.type = DType::i8, .input_scale = 0.25F});
  const std::vector<float> back = dense_values(data);
  for (std::size_t row = 0; row < kOut; ++row) {
    float largest = 0;
    for (std::size_t k = 0; k < kIn; ++k) largest = std::max(largest, std::abs(weight[row * kIn + k]));
    EXPECT_FLOAT_EQ(data.weight_scales[row], largest / 127);
    EXPECT_FLOAT_EQ(data.product_scales()[row], largest / 127 * 0.25F);
    for (std::size_t k = 0; k < kIn; ++k)
      EXPECT_NEAR(back[row * kIn + k], weight[row * kIn + k], 0.5001F * data.weight_scales[row]);
  }
}

TEST(LinearData, PruningKeepsTheTwoLargestOfEachFour) {
  const std::vector<float> weight = random_weight();
  for (const DType type : {DType::f32, DType::i8}) {
    const LinearData data = data_of(weight, {.type = type, .sparse = true});
    const std::vector<float> back = dense_values(data);
    EXPECT_EQ(data.values.size(), weight.size() / 2 * size_of(type));
    for (std::size_t group = 0; group < weight.size(); group += 4) {
      std::vector<float> magnitudes;
      for (std::size_t i = group; i < group + 4; ++i) magnitudes.push_back(std::abs(weight[i]));
      std::ranges::sort(magnitudes);
      for (std::size_t i = group; i < group + 4; ++i) {
        const float kept = std::abs(weight[i]) >= magnitudes[2] ? weight[i] : 0.0F;
        EXPECT_NEAR(back[i], kept, type == DType::f32 ? 0 : 0.03) << i;
      }
    }
  }
}

TEST(LinearData, ZerosAndTiesAreNoTrouble) {
  const std::vector<float> zeros(kOut * kIn, 0.0F);
  for (const DType type : {DType::i8, DType::e4m3, DType::f16}) {
    EXPECT_EQ(dense_values(data_of(zeros, {.type = type})), zeros);
    EXPECT_EQ(dense_values(data_of(zeros, {.type = type, .sparse = true})), zeros);
  }
  const std::vector<float> ones(kOut * kIn, 1.0F);
  const std::vector<float> pruned = dense_values(data_of(ones, {.sparse = true}));
  EXPECT_EQ(std::ranges::count(pruned, 1.0F), std::ssize(ones) / 2);
}

}  // namespace
}  // namespace podium::test
