// A block adds one share of the rows, a thread eight columns; the shares are added by add_partials.
#include <algorithm>

#include "worker/ops/cuda/column_sums.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/partial_sums.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/vector.cuh"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kThreads = 64;
constexpr std::int64_t kColumns = kThreads * kVector;  // of a block
constexpr std::int64_t kMaxBlocks = 1024;              // whatever the device: the same bits on all

template <class T>
__global__ void __launch_bounds__(kThreads)
    column_sums_kernel(const T* x, std::int64_t rows, std::int64_t columns, RowFilter filter,
                       float* partials) {
  const std::int64_t column = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kVector;
  if (column >= columns) return;
  float sums[kVector] = {};
  for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    if (filter.keys != nullptr && filter.keys[row] != filter.key) continue;
    float values[kVector];
    load(x + row * columns, column, columns, values);
#pragma unroll
    for (int i = 0; i < kVector; ++i) sums[i] += values[i];
  }
  store(partials + blockIdx.y * columns, column, columns, sums);
}

}  // namespace

void add_column_sums(Context& context, ConstTensorView x, const RowFilter& filter, float* to) {
  const std::int64_t rows = x.shape[0], columns = x.shape[1];
  if (rows == 0 || columns == 0) return;
  const std::int64_t column_blocks = (columns + kColumns - 1) / kColumns;
  const auto shares =
      static_cast<unsigned>(std::min(rows, std::max<std::int64_t>(kMaxBlocks / column_blocks, 1)));
  auto* const partials = static_cast<float*>(
      cuda_state(context).scratch(shares * static_cast<std::size_t>(columns) * sizeof(float)));
  const dim3 grid(static_cast<unsigned>(column_blocks), shares);
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    launch(context, "add_column_sums", column_sums_kernel<T>, grid, kThreads, 0, elements<T>(x), rows,
           columns, filter, partials);
  });
  add_partials(context, partials, shares, columns, std::array{to});
}

}  // namespace podium::ops::cuda
