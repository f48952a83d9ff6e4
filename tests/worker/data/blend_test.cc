#include "worker/data/blend.h"

#include <gmock/gmock.h>

#include <cmath>

namespace podium {
namespace {

// Megatron-LM's build_blending_indices, step for step, behind its normalisation of weights.
void build_blending_indices(std::vector<std::uint8_t>& dataset_index,
                            std::vector<std::int64_t>& dataset_sample_index, std::vector<double> weights,
                            std::int32_t num_datasets, std::int64_t size) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  for (double& weight : weights) weight /= sum;
  std::vector<std::int64_t> current_samples(static_cast<std::size_t>(num_datasets), 0);
  for (std::int64_t sample_idx = 0; sample_idx < size; ++sample_idx) {
    auto sample_idx_double = std::max(static_cast<double>(sample_idx), 1.0);
    std::size_t max_error_index = 0;
    double max_error = weights[0] * sample_idx_double - static_cast<double>(current_samples[0]);
    for (std::size_t dataset_idx = 1; dataset_idx < static_cast<std::size_t>(num_datasets); ++dataset_idx) {
      double error =
          weights[dataset_idx] * sample_idx_double - static_cast<double>(current_samples[dataset_idx]);
      if (error > max_error) {
        max_error = error;
        max_error_index = dataset_idx;
      }
    }
    dataset_index[static_cast<std::size_t>(sample_idx)] = static_cast<std::uint8_t>(max_error_index);
    dataset_sample_index[static_cast<std::size_t>(sample_idx)] = current_samples[max_error_index];
    current_samples[max_error_index] += 1;
  }
}

TEST(Blend, IsMegatrons) {
  constexpr std::int64_t kSize = 20'000;
  for (const std::vector<double>& weights : {std::vector<double>{1},
                                             {0.7, 0.3},
                                             {1, 1, 1},
                                             {0.01, 0.99},
                                             {3, 1e-6, 5, 0.1},
                                             {0.1, 0.2, 0.3, 0.15, 0.25}}) {
    std::vector<std::uint8_t> sets(kSize);
    std::vector<std::int64_t> samples(kSize);
    build_blending_indices(sets, samples, weights, static_cast<std::int32_t>(weights.size()), kSize);
    Blend blend(weights);
    for (std::int64_t i = 0; i < kSize; ++i) {
      const auto at = static_cast<std::size_t>(i);
      ASSERT_EQ(blend[i], (Blend::Place{sets[at], samples[at]})) << i;
    }
    Blend resumed(weights);
    for (const std::int64_t i :
         {std::int64_t{15'000}, std::int64_t{15'001}, std::int64_t{19'999}, std::int64_t{3}}) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_EQ(resumed[i], (Blend::Place{sets[at], samples[at]})) << "from the middle, and back";
    }
  }
}

TEST(Blend, EachSetIsAtItsShareAtEverySample) {
  const std::vector<double> weights{0.5, 0.3, 0.15, 0.05};
  Blend blend(weights);
  std::vector<double> given(weights.size(), 0);
  for (std::int64_t i = 0; i < 100'000; ++i) {
    ++given[blend[i].set];
    for (std::size_t set = 0; set < weights.size(); ++set)
      ASSERT_LE(std::abs(given[set] - weights[set] * static_cast<double>(i + 1)),
                static_cast<double>(weights.size()));
  }
}

}  // namespace
}  // namespace podium
