// What the two kernels of attention's gradient share; formulas in attention_backward_queries.cu.
#pragma once

#include "worker/ops/cuda/attention_kernels.h"
#include "worker/ops/cuda/attention_launch.h"
#include "worker/ops/cuda/attention_tile.cuh"

namespace podium::ops::cuda::backward {

inline constexpr int kWarps = 4, kThreads = 32 * kWarps;
inline constexpr int kRows = kGradientRows;  // of a block's own tiles, 16 for each warp
static_assert(kRows == 16 * kWarps);

template <class T>
struct Tensors {
  const T* dout;
  const T* out;
  const T* qkv;
  T* dqkv;
};

// Starts to copy `rows` rows of two tensors to two neighbouring tiles.
template <int kTileRows, int kHeadSize, class T>
__device__ __forceinline__ void copy_pair(const AttentionTask& task, const T* first, const T* second,
                                          int first_stride, int second_stride, int rows, T* stage) {
  copy_tile<kThreads, kTileRows, kHeadSize>(stage, first, first_stride, rows, task.head_size);
  copy_tile<kThreads, kTileRows, kHeadSize>(stage + kTileRows * tile_stride(kHeadSize), second, second_stride,
                                            rows, task.head_size);
}

// A third of the columns of dqkv.
enum class Part { queries, keys, values };

// Where this block leaves the column sums of its rows of the head's part of dqkv.
__device__ __forceinline__ float* partial_sums(const AttentionTask& task, const AttentionHead& head,
                                               Part part) {
  const std::int64_t block = std::int64_t{blockIdx.z} * gridDim.x + blockIdx.x;
  return task.partial_sums + (block * 3 + static_cast<int>(part)) * task.hidden() + head.column;
}

// A block without rows has sums, too: they are zero.
__device__ __forceinline__ void clear_partial_sums(const AttentionTask& task, const AttentionHead& head,
                                                   Part part) {
  const int column = static_cast<int>(threadIdx.x);
  if (task.partial_sums != nullptr && column < task.head_size) partial_sums(task, head, part)[column] = 0.0F;
}

// The column sums of what store_rows() writes with the same sums and factors, before it is rounded. All
// threads of the block call this; `warp_sums` [kWarps, 8 * kTiles] is shared memory that nobody else uses.
template <int kTiles>
__device__ __forceinline__ void store_partial_sums(const AttentionTask& task, const AttentionHead& head,
                                                   Part part, const MmaSums (&sums)[kTiles],
                                                   const float (&factors)[2], float* warp_sums) {
  if (task.partial_sums == nullptr) return;
  constexpr int kColumns = 8 * kTiles;
  static_assert(kColumns <= kThreads, "a thread adds the warps' sums of a column");
  float* const own = warp_sums + static_cast<int>(threadIdx.x) / 32 * kColumns;
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const float* const values = sums[t].values + e;
      float sum = 0.0F;
      if (factors[0] != 0.0F) sum += values[0] * factors[0];
      if (factors[1] != 0.0F) sum += values[2] * factors[1];
#pragma unroll
      for (int lanes = 4; lanes < 32; lanes *= 2) sum += __shfl_xor_sync(kAllLanes, sum, lanes);
      if (fragment_row() == 0) own[8 * t + fragment_column() + e] = sum;
    }
  }
  __syncthreads();
  const int column = static_cast<int>(threadIdx.x);
  if (column >= task.head_size) return;
  float sum = 0.0F;
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) sum += warp_sums[warp * kColumns + column];
  partial_sums(task, head, part)[column] = sum;
}

}  // namespace podium::ops::cuda::backward
