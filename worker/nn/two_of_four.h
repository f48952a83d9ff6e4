// 2:4 sparsity (Mishra et al., "Accelerating Sparse Deep Neural Networks", 2021): of each four neighbouring
// inputs of a weight the two of largest magnitude are kept.
#pragma once

#include <array>
#include <cmath>

namespace podium {

inline constexpr int kGroupOfTwo = 4;  // neighbours of which two are kept

// The places of the two largest magnitudes of four, in order; of equal ones the first.
inline std::array<int, 2> largest_two(const float* group) {
  std::array<int, 2> places{};
  std::size_t found = 0;
  for (int i = 0; i < kGroupOfTwo; ++i) {
    int before = 0;
    for (int j = 0; j < kGroupOfTwo; ++j) {
      const float own = std::abs(group[i]), other = std::abs(group[j]);
      before += other > own || (other == own && j < i) ? 1 : 0;
    }
    if (before < 2 && found < 2) places[found++] = i;
  }
  return places;
}

}  // namespace podium
