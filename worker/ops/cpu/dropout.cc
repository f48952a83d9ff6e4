#include "worker/ops/cpu/dropout.h"

#include <algorithm>

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/simd.h"

namespace podium::ops::cpu {
namespace {

template <class T>
PODIUM_SIMD_CLONES void mask_block(const T* x, std::int64_t count, const std::uint16_t* draws,
                                   std::uint32_t threshold, float scale, T* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] = from_float<T>(draws[i] >= threshold ? to_float(x[i]) * scale : 0.0F);
  }
}

template <class T>
PODIUM_SIMD_CLONES void add_block(T* branch, const T* residual, std::int64_t count,
                                  const std::uint16_t* draws, std::uint32_t threshold, float scale) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const float kept = draws[i] >= threshold ? to_float(branch[i]) * scale : 0.0F;
    branch[i] = from_float<T>(to_float(residual[i]) + kept);
  }
}

// body(first element, count, draws) for every block of every row; the draws are all zero, and so all kept,
// where the dropout is inactive.
template <class Body>
void for_each_block(Context& context, const Shape& shape, const Dropout& dropout, const Body& body) {
  const std::int64_t columns = shape[1];
  parallel_ranges(context.threads, shape[0], 1, [&](Range range, int) {
    std::uint16_t draws[kDrawBlock] = {};
    for (std::int64_t row = range.begin; row < range.end; ++row) {
      for (std::int64_t begin = 0; begin < columns; begin += kDrawBlock) {
        if (dropout.active()) draw(dropout, dropout.row(row), begin / kDrawBlock, 1, draws);
        body(row * columns + begin, std::min(kDrawBlock, columns - begin), draws);
      }
    }
  });
}

}  // namespace

void dropout(Context& context, ConstTensorView x, const Dropout& dropout, TensorView y) {
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    for_each_block(context, x.shape, dropout, [&](std::int64_t at, std::int64_t count, const auto* draws) {
      mask_block(x.data<T>() + at, count, draws, dropout.threshold, dropout.scale, y.data<T>() + at);
    });
  });
}

void add_dropout(Context& context, TensorView branch, ConstTensorView residual, const Dropout& dropout) {
  with_float_type(branch.dtype, [&]<class T>(Type<T>) {
    for_each_block(context, branch.shape, dropout,
                   [&](std::int64_t at, std::int64_t count, const auto* draws) {
                     add_block(branch.data<T>() + at, residual.data<T>() + at, count, draws,
                               dropout.threshold, dropout.scale);
                   });
  });
}

}  // namespace podium::ops::cpu
