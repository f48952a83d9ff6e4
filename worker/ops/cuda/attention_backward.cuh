// What the two kernels of attention's gradient share; formulas in attention_backward_queries.cu.
#pragma once

#include "worker/ops/cuda/attention_kernels.h"
#include "worker/ops/cuda/attention_launch.h"
#include "worker/ops/cuda/attention_tile.cuh"

namespace podium::ops::cuda::backward {

inline constexpr int kWarps = 4, kThreads = 32 * kWarps;
inline constexpr int kRows = 16 * kWarps;  // of a block's own tiles, 16 for each warp

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

}  // namespace podium::ops::cuda::backward
