// Random choices that are the same for a seed on every machine and standard library.
#pragma once

#include <cstdint>
#include <random>

namespace podium::sim {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // In [0, bound).
  int below(int bound) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(bound)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace podium::sim
