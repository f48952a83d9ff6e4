// The second half of a sum over rows: kernels leave one row of partial sums for each of their blocks, which
// are added here in a fixed order, so that gradients have the same bits in every run.
#pragma once

#include <cstdint>

#include "worker/tensor/context.h"

namespace podium::ops::cuda {

// to[column] += the sum over rows of partials[row * stride + column].
void add_partials(Context& context, const float* partials, unsigned rows, std::int64_t stride,
                  std::int64_t columns, float* to);

}  // namespace podium::ops::cuda
