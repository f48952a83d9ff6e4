#include "worker/infer/magnitudes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "worker/tensor/random.h"

namespace podium::test {
namespace {

TEST(Magnitudes, PercentilesAreThoseOfTheSortedValues) {
  Random random(1, 1);
  std::vector<float> values(20'000), sorted;
  for (float& v : values) v = static_cast<float>(random.normal() * 3);
  Magnitudes magnitudes;
  magnitudes.add(std::span(values).first(7'000));
  magnitudes.add(std::span(values).subspan(7'000));
  for (const float v : values) sorted.push_back(std::abs(v));
  std::ranges::sort(sorted);
  EXPECT_EQ(magnitudes.count(), values.size());
  EXPECT_EQ(magnitudes.largest(), sorted.back());
  EXPECT_EQ(magnitudes.percentile(1.0), sorted.back());
  for (const double share : {0.5, 0.9, 0.999, 0.9999}) {
    const float exact = sorted[static_cast<std::size_t>(share * 20'000) - 1];
    EXPECT_GE(magnitudes.percentile(share), exact);
    EXPECT_LE(magnitudes.percentile(share), exact * (1 + 1.0F / 128));
  }
}

TEST(Magnitudes, OfZerosAreZero) {
  Magnitudes magnitudes;
  magnitudes.add(std::vector<float>(10, 0.0F));
  EXPECT_EQ(magnitudes.percentile(0.9999), 0.0F);
}

}  // namespace
}  // namespace podium::test
