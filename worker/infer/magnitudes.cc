#include "worker/infer/magnitudes.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace podium {

void Magnitudes::add(std::span<const float> values) {
  for (const float value : values) {
    const float magnitude = std::abs(value);
    ++counts_[std::bit_cast<std::uint32_t>(magnitude) >> 16];
    largest_ = std::max(largest_, magnitude);
  }
  count_ += values.size();
}

float Magnitudes::percentile(double share) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::uint32_t bucket = 0; bucket < counts_.size(); ++bucket) {
    seen += counts_[bucket];
    if (seen >= wanted) return std::min(largest_, std::bit_cast<float>(bucket << 16 | 0xffffU));
  }
  return largest_;
}

}  // namespace podium
