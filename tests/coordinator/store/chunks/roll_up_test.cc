// Roll-ups against what is worked out here from the points, and packed and read again.
#include "coordinator/store/chunks/roll_up.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/coordinator/store/chunks/random_points.h"

namespace podium {
namespace {

void expect_same(const std::optional<StoredPoint>& a, const std::optional<StoredPoint>& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (!a) return;
  EXPECT_EQ(a->step, b->step);
  EXPECT_EQ(a->time_ms, b->time_ms);
  if (std::isnan(a->value)) {
    EXPECT_TRUE(std::isnan(b->value));
  } else {
    EXPECT_EQ(a->value, b->value);
  }
}

TEST(RollUp, IsWhatThePointsComeTo) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    const auto points = random_points(random, 1 + random() % 300);
    std::vector<StoredPoint> numbers, broken;
    for (const StoredPoint& point : points) (std::isnan(point.value) ? broken : numbers).push_back(point);
    const RollUp run = roll_up(points);
    EXPECT_EQ(run.points, std::ssize(points));
    EXPECT_EQ(run.numbers, std::ssize(numbers));
    const auto low = std::ranges::min_element(numbers, {}, &StoredPoint::value);
    const auto high = std::ranges::max_element(numbers, {}, &StoredPoint::value);
    expect_same(run.low, low == numbers.end() ? std::nullopt : std::optional(*low));
    expect_same(run.high, high == numbers.end() ? std::nullopt : std::optional(*high));
    expect_same(run.broken, broken.empty() ? std::nullopt : std::optional(broken.front()));
    double sum = 0;
    for (const StoredPoint& point : numbers) sum += point.value;
    if (!std::isnan(sum)) {
      EXPECT_TRUE(run.sum == sum || std::abs(run.sum - sum) <= std::abs(sum) / (1 << 23));
    }
  }
}

TEST(RollUp, PackedIsTheSame) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const auto runs = roll_ups(random_points(random, 1 + random() % kPointsInChunk), kPointsInBlock);
    const auto read = decode_roll_ups(encode_roll_ups(runs));
    ASSERT_TRUE(read.ok()) << describe(read.errors());
    ASSERT_EQ(read->size(), runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const RollUp &a = runs[i], &b = (*read)[i];
      EXPECT_EQ(a.points, b.points);
      EXPECT_EQ(a.numbers, b.numbers);
      EXPECT_TRUE(a.sum == b.sum || (std::isnan(a.sum) && std::isnan(b.sum)));
      expect_same(a.low, b.low);
      expect_same(a.high, b.high);
      expect_same(a.broken, b.broken);
    }
  }
}

TEST(RollUp, DamagedBytesAreAnErrorOrRuns) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = encode_roll_ups(roll_ups(random_points(random, 1 + random() % 1000), kPointsInBlock));
    bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
    EXPECT_FALSE(decode_roll_ups(bytes).ok());
  }
}

}  // namespace
}  // namespace podium
