#include "worker/ops/rows.h"

#include <cstring>

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/simd.h"

namespace podium::ops::cpu {
namespace {

template <class T>
PODIUM_SIMD_CLONES void add_row(const T* x, std::int64_t count, T* y) {
#pragma omp simd
  for (std::int64_t j = 0; j < count; ++j) y[j] = from_float<T>(to_float(y[j]) + to_float(x[j]));
}

}  // namespace

void gather_rows(Context& context, ConstTensorView x, std::span<const std::int32_t> rows, TensorView y) {
  const std::size_t row_bytes = static_cast<std::size_t>(x.shape[1]) * size_of(x.dtype);
  const auto* const from = static_cast<const std::byte*>(x.address);
  auto* const to = static_cast<std::byte*>(y.address);
  const auto named = static_cast<std::int64_t>(rows.size());
  parallel_ranges(context.threads, y.shape[0], 1, [&](Range range, int) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (i < named && rows[at] >= 0) {
        std::memcpy(to + at * row_bytes, from + static_cast<std::size_t>(rows[at]) * row_bytes, row_bytes);
      } else {
        std::memset(to + at * row_bytes, 0, row_bytes);
      }
    }
  });
}

void scatter_add_rows(Context& context, ConstTensorView dy, std::span<const std::int32_t> rows,
                      TensorView dx) {
  const std::int64_t columns = dx.shape[1];
  with_float_type(dx.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, static_cast<std::int64_t>(rows.size()), 1, [&](Range range, int) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const std::int32_t row = rows[static_cast<std::size_t>(i)];
        if (row >= 0) add_row(dy.data<T>() + i * columns, columns, dx.data<T>() + row * columns);
      }
    });
  });
}

}  // namespace podium::ops::cpu
