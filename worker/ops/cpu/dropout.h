// Dropout draws for CPU kernels.
#pragma once

#include <cstdint>

#include "worker/ops/dropout.h"

namespace podium::ops::cpu {

inline constexpr std::int64_t kDrawBlock = 128;  // draws come in blocks of this many columns

// Columns [block * 128, (block + blocks) * 128) of `row`; a column is kept where its draw is at least the
// threshold.
void draw(const Dropout& dropout, std::uint64_t row, std::int64_t block, std::int64_t blocks,
          std::uint16_t* out);

}  // namespace podium::ops::cpu
