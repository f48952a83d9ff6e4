// The second half of sums over rows: kernels leave one row of partial sums for each of their blocks, which
// are added here in a fixed order, so that gradients have the same bits in every run.
#pragma once

#include <array>
#include <cstdint>

#include "worker/tensor/context.h"

namespace podium::ops::cuda {

// to[s][column] += the sum over rows of partials [rows, kSums, columns], for the first `wanted` columns; a
// sum without an address is not wanted.
void add_partials(Context& context, const float* partials, unsigned rows, std::int64_t columns,
                  std::int64_t wanted, const std::array<float*, 1>& to);
void add_partials(Context& context, const float* partials, unsigned rows, std::int64_t columns,
                  std::int64_t wanted, const std::array<float*, 3>& to);

}  // namespace podium::ops::cuda
