// How the elements of several ranks become one. Every element is added in the order of the ranks, because
// sums must not depend on an element's place in a buffer.
#pragma once

#include <cstddef>
#include <span>

#include "worker/comm/communicator.h"

namespace podium {

struct ElementReduction {
  std::size_t element_size = 0;
  // out[i] = ((parts[0][i] + parts[1][i]) + ...). Elements of 16 bits are added in f32 and rounded once.
  // `out` may be one of the parts.
  void (*reduce)(std::span<const std::byte* const> parts, std::byte* out, std::size_t count) = nullptr;
};

ElementReduction reduction_of(DType dtype, Reduction reduction);  // f32, bf16, f16
ElementReduction sum_of_doubles();

}  // namespace podium
