// Points as programs tell them, and as they never should, from a seed.
#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "coordinator/store/chunks/point.h"

namespace podium {

// One way in which values come.
inline double random_value(std::mt19937_64& random, int kind, double step) {
  std::normal_distribution<double> noise;
  switch (kind) {
    case 0:
      return 0.5 + 8 * std::exp(-step / 700) + 0.05 * noise(random);  // a loss
    case 1:
      return static_cast<float>(7 - step / 5000 + 0.05 * noise(random));  // of floats
    case 2:
      return std::round(1e4 * (0.9 + 0.01 * noise(random))) / 1e4;  // told with four digits
    case 3:
      return 6e-3 * (1 - step / 1e6);  // a learning rate
    case 4:
      return random() % 10 == 0 ? std::numeric_limits<double>::quiet_NaN() : noise(random);
    case 5:
      return random() % 100 == 0 ? -std::numeric_limits<double>::infinity() : 1e300 * noise(random);
    case 6:
      return 0.0 * noise(random);  // both zeros
    case 7:
      return 1024;
    default:
      return std::bit_cast<double>(random());  // anything, NaNs with a payload among them
  }
}
inline constexpr int kValueKinds = 9;

inline std::vector<StoredPoint> random_points(std::mt19937_64& random, std::size_t count) {
  const int kind = static_cast<int>(random() % kValueKinds);
  const bool jumps = random() % 4 == 0, sparse = random() % 3 == 0;
  std::vector<StoredPoint> points;
  std::int64_t step = jumps ? static_cast<std::int64_t>(random() >> 1) / 2 * -1 : 1;
  std::int64_t time = 1'767'225'600'000;
  int attempt = 1;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back({step, time, random_value(random, kind, static_cast<double>(i)), attempt});
    step += jumps    ? 1 + static_cast<std::int64_t>(random() % 1'000'000'000'000)
            : sparse ? 1 + static_cast<std::int64_t>(random() % 7)
                     : 1;
    time += random() % 200 == 0 ? static_cast<std::int64_t>(random() >> 20) - (std::int64_t{1} << 43)
                                : 55 + static_cast<std::int64_t>(random() % 10);
    if (random() % 1000 == 0) ++attempt;
  }
  return points;
}

// Bit by bit, NaN with NaN.
inline bool same(const StoredPoint& a, const StoredPoint& b) {
  return a.step == b.step && a.time_ms == b.time_ms && a.attempt == b.attempt &&
         std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value);
}

}  // namespace podium
