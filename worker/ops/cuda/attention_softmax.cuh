// The softmax that goes along with a pass over the keys (Milakov and Gimelshein, 2018), of rows of scores
// that a warp holds in fragments:
//
//   m' = max(m, rowmax S)    P = 2^(S - m')    l = l 2^(m - m') + rowsum P    O = O 2^(m - m')
#pragma once

#include "worker/ops/cuda/attention_task.cuh"
#include "worker/ops/cuda/attention_tile.cuh"

namespace podium::ops::cuda {

// A warp's running softmax: of rows g and g + 8 of each row tile; a lane's sums are over its own columns.
template <int kRowTiles>
struct Softmax {
  float highest[kRowTiles][2];
  float sum[kRowTiles][2];

  __device__ Softmax() {
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
      highest[r][0] = highest[r][1] = -INFINITY;
      sum[r][0] = sum[r][1] = 0.0F;
    }
  }
};

// Keys beyond the head's, and where causal those after the query, score -infinity.
template <int kRowTiles, int kTiles>
__device__ __forceinline__ void mask(const AttentionTask& task, const AttentionHead& head, int first_query,
                                     int first_key, MmaSums (&scores)[kRowTiles][kTiles]) {
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int query = first_query + 16 * r + fragment_row() + e / 2 * 8;
      const int keys = task.causal && query + 1 < head.keys ? query + 1 : head.keys;
#pragma unroll
      for (int t = 0; t < kTiles; ++t)
        if (first_key + 8 * t + fragment_column() + e % 2 >= keys) scores[r][t].values[e] = -INFINITY;
    }
  }
}

// Scores become probabilities up to the row's sum; what was summed before is scaled down to the new maximum.
template <int kRowTiles, int kTiles, int kOutTiles>
__device__ __forceinline__ void softmax(float scale_log2, MmaSums (&scores)[kRowTiles][kTiles],
                                        Softmax<kRowTiles>& state, MmaSums (&out)[kRowTiles][kOutTiles]) {
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int e = 2 * half;
      float highest = scores[r][0].values[e];
#pragma unroll
      for (int t = 0; t < kTiles; ++t)
        highest = fmaxf(highest, fmaxf(scores[r][t].values[e], scores[r][t].values[e + 1]));
      highest = fmaxf(highest, __shfl_xor_sync(kAllLanes, highest, 1));
      highest = fmaxf(highest, __shfl_xor_sync(kAllLanes, highest, 2));
      highest = fmaxf(highest * scale_log2, state.highest[r][half]);
      const float shrink = fast_exp2(state.highest[r][half] - highest);
      state.highest[r][half] = highest;
      float sum = state.sum[r][half] * shrink;
#pragma unroll
      for (int t = 0; t < kTiles; ++t) {
#pragma unroll
        for (int i = e; i < e + 2; ++i) {
          scores[r][t].values[i] = fast_exp2(scores[r][t].values[i] * scale_log2 - highest);
          sum += scores[r][t].values[i];
        }
      }
      state.sum[r][half] = sum;
#pragma unroll
      for (int t = 0; t < kOutTiles; ++t) {
        out[r][t].values[e] *= shrink;
        out[r][t].values[e + 1] *= shrink;
      }
    }
  }
}

}  // namespace podium::ops::cuda
