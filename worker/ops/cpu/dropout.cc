#include "worker/ops/cpu/dropout.h"

#include <algorithm>

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/simd.h"

namespace podium::ops::cpu {
namespace {

template <class T>
PODIUM_SIMD_CLONES void mask_block(T* x, std::int64_t count, const std::uint16_t* draws,
                                   std::uint32_t threshold, float scale) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    x[i] = from_float<T>(draws[i] >= threshold ? to_float(x[i]) * scale : 0.0F);
  }
}

}  // namespace

void dropout(Context& context, TensorView x, const Dropout& dropout) {
  const std::int64_t columns = x.shape[1];
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    T* const data = x.data<T>();
    parallel_ranges(context.threads, x.shape[0], 1, [&](Range range, int) {
      std::uint16_t draws[kDrawBlock];
      for (std::int64_t row = range.begin; row < range.end; ++row) {
        for (std::int64_t begin = 0; begin < columns; begin += kDrawBlock) {
          draw(dropout, dropout.first_row + static_cast<std::uint64_t>(row), begin / kDrawBlock, 1, draws);
          mask_block(data + row * columns + begin, std::min(kDrawBlock, columns - begin), draws,
                     dropout.threshold, dropout.scale);
        }
      }
    });
  });
}

}  // namespace podium::ops::cpu
