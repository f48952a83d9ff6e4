// How large the values of a tensor are, over many batches: counts by the upper bits of their magnitude, so
// that no range need be known before, batches may come in any order, and a percentile is right to 1/128.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace podium {

class Magnitudes {
 public:
  void add(std::span<const float> values);

  std::uint64_t count() const { return count_; }
  float largest() const { return largest_; }
  // The magnitude that this share of the values, in (0, 1], do not exceed.
  float percentile(double share) const;

 private:
  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(1 << 15);  // by bits 16 to 30 of the float
  std::uint64_t count_ = 0;
  float largest_ = 0.0F;
};

}  // namespace podium
