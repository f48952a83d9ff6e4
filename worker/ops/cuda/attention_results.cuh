// How the results of forward leave the registers.
#pragma once

#include <type_traits>

#include "worker/ops/cuda/attention_softmax.cuh"
#include "worker/ops/cuda/quantise.cuh"

namespace podium::ops::cuda {

// store_rows() of attention_tile.cuh in 8 bits; rows of the tensor begin at multiples of 8 bytes.
template <class Q, int kTiles>
__device__ __forceinline__ void store_quantised_rows(const MmaSums (&sums)[kTiles], const float (&factors)[2],
                                                     Q* tile, Q* tensor, int stride, int rows, int columns) {
  constexpr int kColumns = 8 * kTiles, kStride = kColumns + kVector;
  __syncwarp();  // the tile may hold what was stored last
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float factor = factors[e / 2];
      tile[(fragment_row() + e / 2 * 8) * kStride + 8 * t + fragment_column() + e % 2] =
          quantised<Q>(factor == 0.0F ? 0.0F : sums[t].values[e] * factor);
    }
  }
  __syncwarp();
  for (int chunk = lane_of_warp(); chunk < 16 * kTiles; chunk += 32) {
    const int row = chunk / kTiles, column = chunk % kTiles * kVector;
    if (row < rows && column < columns)
      *reinterpret_cast<uint2*>(tensor + row * stride + column) =
          *reinterpret_cast<const uint2*>(tile + row * kStride + column);
  }
}

// Of a warp's queries from first_query on. Out is T, or an 8-bit type in units of 1 / out_factor.
template <class T, class Out, int kRowTiles, int kTiles>
__device__ __forceinline__ void store_results(const AttentionTask& task, const AttentionHead& head,
                                              int first_query, const MmaSums (&sums)[kRowTiles][kTiles],
                                              const Softmax<kRowTiles>& softmax, T* tile, Out* out,
                                              float out_factor) {
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) {
    float factors[2];
    const int query = first_query + 16 * r;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float sum = softmax.sum[r][half];
      sum += __shfl_xor_sync(kAllLanes, sum, 1);
      sum += __shfl_xor_sync(kAllLanes, sum, 2);
      factors[half] = sum > 0.0F ? task.keep_scale / sum * out_factor : 0.0F;
      const int row = query + fragment_row() + 8 * half;
      if (task.statistics != nullptr && fragment_column() == 0 && row < head.rows)
        task.statistics[head.index * task.length +
                        row] =  // where there was no key, so that 2^(score - it) is 0
            sum > 0.0F ? softmax.highest[r][half] + log2f(sum) : INFINITY;
    }
    if (out == nullptr) continue;
    Out* const to = out + head.at(query, task.hidden());
    if constexpr (std::is_same_v<Out, T>)
      store_rows<T>(sums[r], factors, tile, to, task.hidden(), head.rows - query, task.head_size);
    else
      store_quantised_rows(sums[r], factors, reinterpret_cast<Out*>(tile), to, task.hidden(),
                           head.rows - query, task.head_size);
  }
}

}  // namespace podium::ops::cuda
