// How fast a model computes, as far as its batches tell; the newest count most.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace podium {

class ComputeSpeed {
 public:
  void add(std::size_t tokens, std::chrono::nanoseconds took) {
    const double speed =
        static_cast<double>(tokens) / std::max(1e-9, std::chrono::duration<double>(took).count());
    tokens_per_second_ =
        tokens_per_second_ == 0 ? speed : (1 - kNewestShare) * tokens_per_second_ + kNewestShare * speed;
  }
  // How long these take: 1 to 60 s, and 1 s where nothing is known.
  std::chrono::seconds time_of(std::int64_t tokens) const {
    if (tokens_per_second_ == 0) return std::chrono::seconds(1);
    const double seconds = static_cast<double>(tokens) / tokens_per_second_;
    return std::chrono::seconds(std::llround(std::clamp(std::ceil(seconds), 1.0, 60.0)));
  }

 private:
  static constexpr double kNewestShare = 0.2;

  double tokens_per_second_ = 0;  // 0: not known
};

}  // namespace podium
