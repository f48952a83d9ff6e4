// The gradient of attention's softmax over a tile of scores, as both kernels of attention_backward.cuh and
// Hopper's compute it; formulas in attention_backward_queries.cu.
#pragma once

#include "worker/ops/cuda/attention_backward.cuh"
#include "worker/ops/cuda/attention_kept.cuh"
#include "worker/ops/cuda/attention_softmax.cuh"

namespace podium::ops::cuda::backward {

// Of the rows of a lane's fragments.
struct RowStatistics {
  float statistic[2], delta[2];
};

// The statistics, and dot(dout, out): a row's quad of lanes shares the columns. All is under way before any
// is used.
template <int kHeadSize, class T>
__device__ __forceinline__ RowStatistics row_statistics(const AttentionTask& task, const AttentionHead& head,
                                                        const Tensors<T>& tensors, int first_query) {
  constexpr int kGroups = (kHeadSize + 4 * kVector - 1) / (4 * kVector);
  RowStatistics rows;
  Raw<T> douts[2][kGroups], outs[2][kGroups];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int query = min(first_query + fragment_row() + 8 * half, head.rows - 1);
    const std::int64_t at = head.at(query, task.hidden());
    rows.statistic[half] = task.statistics[head.index * task.length + query];
#pragma unroll
    for (int group = 0; group < kGroups; ++group) {
      const int column = (4 * group + lane_of_warp() % 4) * kVector;
      douts[half][group] = load_raw(tensors.dout + at, column, task.head_size);
      outs[half][group] = load_raw(tensors.out + at, column, task.head_size);
    }
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float sum = 0.0F;
#pragma unroll
    for (int group = 0; group < kGroups; ++group) {
      float dout[kVector], out[kVector];
      widen(douts[half][group], dout);
      widen(outs[half][group], out);
#pragma unroll
      for (int i = 0; i < kVector; ++i) sum += dout[i] * out[i];
    }
    sum += __shfl_xor_sync(kAllLanes, sum, 1);
    sum += __shfl_xor_sync(kAllLanes, sum, 2);
    rows.delta[half] = sum;
    const int row = first_query + fragment_row() + 8 * half;
    if (fragment_column() == 0 && row < head.rows) task.deltas[head.index * task.length + row] = sum;
  }
  return rows;
}

// dS, in place of dD; a score of -infinity has none.
template <int kTiles>
__device__ __forceinline__ void score_gradients(const AttentionTask& task, const RowStatistics& rows,
                                                const MmaSums (&scores)[1][kTiles],
                                                MmaSums (&gradients)[1][kTiles]) {
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float p = fast_exp2(scores[0][t].values[e] * task.scale_log2 - rows.statistic[e / 2]);
      gradients[0][t].values[e] = p * (gradients[0][t].values[e] * task.keep_scale - rows.delta[e / 2]);
    }
  }
}

// The statistics and deltas of queries [first, first + kQueries); 0 beyond the head's, where Q and dO are 0
// too.
template <int kQueries>
__device__ __forceinline__ void copy_statistics(const AttentionTask& task, const AttentionHead& head,
                                                int first, float* to) {
  const int i = static_cast<int>(threadIdx.x), query = first + i % kQueries;
  if (i >= 2 * kQueries) return;
  const float* const from = i < kQueries ? task.statistics : task.deltas;
  copy_async<4>(to + i, from + head.index * task.length + query, query < head.rows);
}

// Where causal, keys after the query score -infinity.
template <int kTiles>
__device__ __forceinline__ void mask_transposed(int first_query, int first_key,
                                                MmaSums (&scores)[1][kTiles]) {
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int query = first_query + 8 * t + fragment_column() + e % 2;
      if (first_key + fragment_row() + e / 2 * 8 > query) scores[0][t].values[e] = -INFINITY;
    }
  }
}

// D^T but for keep_scale and dS^T, in place of the scores and of dD^T. `words` are those of the warp's strip
// of keys, of the chunk's queries.
template <int kTiles>
__device__ __forceinline__ void transposed_gradients(const AttentionTask& task, const float* statistics,
                                                     const float* deltas, const std::uint16_t* words,
                                                     MmaSums (&scores)[1][kTiles],
                                                     MmaSums (&gradients)[1][kTiles]) {
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
    const int column = 8 * t + fragment_column();
    const float2 statistic = *reinterpret_cast<const float2*>(statistics + column);
    const float2 delta = *reinterpret_cast<const float2*>(deltas + column);
    std::uint32_t kept = 0xffffffffU;  // of two queries
    if (task.kept != nullptr)
      kept = *reinterpret_cast<const std::uint32_t*>(words + column) >> fragment_row();
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float p =
          fast_exp2(scores[0][t].values[e] * task.scale_log2 - (e % 2 == 0 ? statistic.x : statistic.y));
      const bool keeps = (kept >> (e / 2 * 8 + e % 2 * kStripKeys) & 1U) != 0;
      const float gradient = keeps ? gradients[0][t].values[e] : 0.0F;
      scores[0][t].values[e] = keeps ? p : 0.0F;
      gradients[0][t].values[e] = p * (gradient * task.keep_scale - (e % 2 == 0 ? delta.x : delta.y));
    }
  }
}

// `tile` is the warp's own, `warp_sums` as store_partial_sums() has it.
template <class T, int kTiles>
__device__ __forceinline__ void store_query_gradients(const AttentionTask& task, const AttentionHead& head,
                                                      int first_query, const MmaSums (&sums)[kTiles], T* tile,
                                                      float* warp_sums, T* dqkv) {
  const int wide = 3 * task.hidden();
  const float factors[2] = {first_query + fragment_row() < head.rows ? task.scale : 0.0F,
                            first_query + fragment_row() + 8 < head.rows ? task.scale : 0.0F};
  store_partial_sums(task, head, Part::queries, sums, factors, warp_sums);
  store_rows<T>(sums, factors, tile, dqkv + head.at(first_query, wide), wide, head.rows - first_query,
                task.head_size);
}

// Rows of keys that nobody may look at become 0. `tile` is the warp's own, `warp_sums` as
// store_partial_sums() has it, for the keys and behind them for the values.
template <class T, int kTiles>
__device__ __forceinline__ void store_key_gradients(const AttentionTask& task, const AttentionHead& head,
                                                    int first_key, const MmaSums (&dkeys)[kTiles],
                                                    const MmaSums (&dvalues)[kTiles], T* tile,
                                                    float* warp_sums, T* dqkv) {
  const int hidden = task.hidden(), wide = 3 * hidden;
  float key_factors[2], value_factors[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool seen = first_key + fragment_row() + 8 * half < head.keys;
    key_factors[half] = seen ? task.scale : 0.0F;
    value_factors[half] = seen ? task.keep_scale : 0.0F;
  }
  T* const to = dqkv + head.at(first_key, wide) + hidden;
  const int count = head.rows - first_key;
  store_rows<T>(dkeys, key_factors, tile, to, wide, count, task.head_size);
  store_rows<T>(dvalues, value_factors, tile, to + hidden, wide, count, task.head_size);
  store_partial_sums(task, head, Part::keys, dkeys, key_factors, warp_sums);
  store_partial_sums(task, head, Part::values, dvalues, value_factors, warp_sums + kWarps * 8 * kTiles);
}

}  // namespace podium::ops::cuda::backward
