// Neighbouring threads add neighbouring columns; eight of them share a column's rows.
#include "worker/ops/cuda/partial_sums.h"
#include "worker/ops/cuda/state.h"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kColumns = 32, kShares = 8;  // of a block

__global__ void __launch_bounds__(kColumns* kShares)
    add_partials_kernel(const float* partials, unsigned rows, std::int64_t stride, std::int64_t columns,
                        float* to) {
  __shared__ float shares[kShares][kColumns];
  const std::int64_t column = std::int64_t{blockIdx.x} * kColumns + threadIdx.x;
  float sum = 0.0F;
  if (column < columns) {
    for (unsigned row = threadIdx.y; row < rows; row += kShares) sum += partials[row * stride + column];
  }
  shares[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || column >= columns) return;
#pragma unroll
  for (unsigned share = 1; share < kShares; ++share) sum += shares[share][threadIdx.x];
  to[column] += sum;
}

}  // namespace

void add_partials(Context& context, const float* partials, unsigned rows, std::int64_t stride,
                  std::int64_t columns, float* to) {
  const auto blocks = static_cast<unsigned>((columns + kColumns - 1) / kColumns);
  launch(context, "add_partials", add_partials_kernel, blocks, dim3(kColumns, kShares), 0, partials, rows,
         stride, columns, to);
}

}  // namespace podium::ops::cuda
