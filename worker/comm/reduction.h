// How the elements of several ranks become one. The order of addition is that of the ranks, for every
// element: sums must not depend on where in a buffer an element lies.
#pragma once

#include <cstddef>
#include <span>

#include "worker/comm/communicator.h"

namespace podium {

struct ElementReduction {
  std::size_t element_size = 0;
  // out[i] = ((parts[0][i] + parts[1][i]) + ...), in f32 where elements are 16 bits wide and rounded once.
  // `out` may be one of the parts.
  void (*reduce)(std::span<const std::byte* const> parts, std::byte* out, std::size_t count) = nullptr;
};

ElementReduction reduction_of(DType dtype, Reduction reduction);  // f32, bf16, f16
ElementReduction sum_of_doubles();

}  // namespace podium
