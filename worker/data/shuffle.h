// A seeded permutation of [0, size) that needs no memory: a four-round Feistel network over the next power of
// four, walked until it lands inside (Black and Rogaway, 2002). Any position can be asked for alone. Over
// seeds an element is at each position equally often, but below some 200 elements, where the frequencies
// differ by about 2 %.
#pragma once

#include <cstdint>

#include "worker/tensor/random.h"

namespace podium {

class Shuffle {
 public:
  Shuffle(std::uint64_t seed, std::uint64_t stream, std::int64_t size);

  std::int64_t operator[](std::int64_t position) const;
  std::int64_t size() const { return size_; }

 private:
  std::uint64_t permute(std::uint64_t value) const;

  PhiloxKey key_;
  std::int64_t size_;
  int half_bits_ = 1;
};

}  // namespace podium
