// Attention's gradient on tensor cores (FlashAttention-2's formulas; Dao, 2023). Probabilities come again
// from the scores and forward's statistics. No sum is shared between blocks, so the bits follow from the
// inputs: one kernel goes over the keys for a block of queries, then one over the queries for a block of
// keys, at the price of computing P and dP twice (seven products where atomic additions would do with five).
//
//   P = 2^(Q K^T * scale_log2 - statistic)   D = kept P * keep_scale   delta = rowsum(dO * O)
//   dD = dO V^T                               dS = P * (kept dD * keep_scale - delta)
//   dQ = scale dS K     dK = scale dS^T Q     dV = D^T dO
//
// The second kernel computes P^T and dP^T, whose fragments are then left operands as they are.
#include <algorithm>

#include "worker/ops/cuda/attention_kept.cuh"
#include "worker/ops/cuda/attention_kernels.h"
#include "worker/ops/cuda/attention_launch.h"
#include "worker/ops/cuda/attention_tile.cuh"

namespace podium::ops::cuda {
namespace {

constexpr int kWarps = 4, kThreads = 32 * kWarps;
constexpr int kRows = 16 * kWarps;  // of a block's own tiles, 16 for each warp

template <class T>
struct Tensors {
  const T* dout;
  const T* out;
  const T* qkv;
  T* dqkv;
};

// ---- dQ: a block of queries, over the keys ----

template <int kHeadSizeIn>
struct QueryTiling {
  static constexpr int kHeadSize = kHeadSizeIn;
  static constexpr int kKeys = kRows;  // of a tile: Q and dO wait where the second stage will be
  static constexpr int kChunk = 32;    // of them, whose scores are in registers at a time
  static constexpr int kTile = kKeys * tile_stride(kHeadSize);
  static constexpr int kStage = 2 * kTile;  // K and V
  static constexpr std::size_t kSharedBytes = 2 * kStage * sizeof(std::uint16_t);
};

// Two neighbouring tiles of `rows` rows each: parts of tensors that have one row stride.
template <int kTileRows, int kHeadSize, class T>
__device__ __forceinline__ void copy_pair(const AttentionTask& task, const T* first, const T* second,
                                          int first_stride, int second_stride, int rows, T* stage) {
  copy_tile<kThreads, kTileRows, kHeadSize>(stage, first, first_stride, rows, task.head_size);
  copy_tile<kThreads, kTileRows, kHeadSize>(stage + kTileRows * tile_stride(kHeadSize), second, second_stride,
                                            rows, task.head_size);
}

template <int kSteps, class T>
__device__ __forceinline__ void load_left_rows(const T* tile, MmaA (&a)[kSteps]) {
#pragma unroll
  for (int step = 0; step < kSteps; ++step) a[step] = load_left<16 * kSteps>(tile + 16 * step);
}

// dot(dout, out) of a row; its quad of lanes shares the columns.
template <class T>
__device__ __forceinline__ float delta_of(const T* dout, const T* out, int columns) {
  float sum = 0.0F;
  for (int column = lane_of_warp() % 4 * kVector; column < columns; column += 4 * kVector) {
    float a[kVector], b[kVector];
    load(dout, column, columns, a);
    load(out, column, columns, b);
#pragma unroll
    for (int i = 0; i < kVector; ++i) sum += a[i] * b[i];
  }
  sum += __shfl_xor_sync(kAllLanes, sum, 1);
  return sum + __shfl_xor_sync(kAllLanes, sum, 2);
}

// Of the rows of a lane's fragments.
struct RowStatistics {
  float statistic[2] = {0.0F, 0.0F};
  float delta[2] = {0.0F, 0.0F};
};

template <class T>
__device__ __forceinline__ RowStatistics row_statistics(const AttentionTask& task, const AttentionHead& head,
                                                        const Tensors<T>& tensors, int first_query) {
  RowStatistics rows;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = first_query + fragment_row() + 8 * half, query = min(row, head.rows - 1);
    const std::int64_t at = head.at(query, task.hidden());
    rows.delta[half] = delta_of(tensors.dout + at, tensors.out + at, task.head_size);
    rows.statistic[half] = task.statistics[head.index * task.length + query];
    if (fragment_column() == 0 && row < head.rows)
      task.deltas[head.index * task.length + query] = rows.delta[half];
  }
  return rows;
}

// dS, in place of dD.
template <int kTiles>
__device__ __forceinline__ void score_gradients(const AttentionTask& task, const AttentionHead& head,
                                                const RowStatistics& rows, const KeptScores<1, kTiles>& kept,
                                                bool masked, int first_query, int first_key,
                                                const MmaSums (&scores)[1][kTiles],
                                                MmaSums (&gradients)[1][kTiles]) {
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      float p = fast_exp2(scores[0][t].values[e] * task.scale_log2 - rows.statistic[e / 2]);
      if (masked) {
        const int key = first_key + 8 * t + fragment_column() + e % 2;
        const int query = first_query + fragment_row() + e / 2 * 8;
        if (key >= head.keys || (task.causal && key > query)) p = 0.0F;
      }
      float gradient = gradients[0][t].values[e];
      if (task.kept != nullptr) gradient = kept.has(0, t, e) ? gradient * task.keep_scale : 0.0F;
      gradients[0][t].values[e] = p * (gradient - rows.delta[e / 2]);
    }
  }
}

template <class T, class Tiling>
__global__ void __launch_bounds__(kThreads) query_kernel(AttentionTask task, Tensors<T> tensors) {
  constexpr int kHeadSize = Tiling::kHeadSize, kSteps = kHeadSize / 16, kKeys = Tiling::kKeys;
  constexpr int kChunk = Tiling::kChunk;
  const AttentionHead head = head_of_block(task);
  // Where causal the last queries have the most to do, and so go first.
  const int block_query = static_cast<int>(gridDim.x - 1 - blockIdx.x) * kRows;
  if (block_query >= head.rows) return;
  const int warp = static_cast<int>(threadIdx.x) / 32, first_query = block_query + 16 * warp;
  const int keys = task.causal ? min(head.keys, block_query + kRows) : head.keys;
  const int hidden = task.hidden(), wide = 3 * hidden;
  T* const stages = reinterpret_cast<T*>(dynamic_shared);
  const auto copy_stage = [&](int key, T* stage) {
    const T* const from = tensors.qkv + head.at(key, wide) + hidden;
    copy_pair<kKeys, kHeadSize>(task, from, from + hidden, wide, wide, head.keys - key, stage);
    commit_copies();
  };

  T* const own = stages + Tiling::kStage;
  copy_pair<kRows, kHeadSize>(task, tensors.qkv + head.at(block_query, wide),
                              tensors.dout + head.at(block_query, hidden), wide, hidden,
                              head.rows - block_query, own);
  commit_copies();
  copy_stage(0, stages);
  const RowStatistics rows = row_statistics(task, head, tensors, first_query);
  wait_for_copies<1>();
  __syncthreads();
  MmaA queries[kSteps], douts[kSteps];
  load_left_rows(own + 16 * warp * tile_stride(kHeadSize), queries);
  load_left_rows(own + Tiling::kTile + 16 * warp * tile_stride(kHeadSize), douts);

  MmaSums sums[1][2 * kSteps];
  for (int key = 0, stage = 0; key < keys; key += kKeys, stage ^= 1) {
    wait_for_copies<0>();
    __syncthreads();  // all threads' copies of this stage are done, and nobody reads the other one any more
    if (key + kKeys < keys) copy_stage(key + kKeys, stages + (stage ^ 1) * Tiling::kStage);
    const T* const key_tile = stages + stage * Tiling::kStage;
#pragma unroll
    for (int chunk = 0; chunk < kKeys; chunk += kChunk) {
      const int first_key = key + chunk;
      if (task.causal && first_key > first_query + 15) break;
      const T* const chunk_tile = key_tile + chunk * tile_stride(kHeadSize);
      KeptScores<1, kChunk / 8> kept;
      kept.fetch(task, head, first_query, first_key);
      MmaSums scores[1][kChunk / 8], gradients[1][kChunk / 8];
      multiply_transposed<kSteps>([&](int, int step) { return queries[step]; }, chunk_tile, scores);
      multiply_transposed<kSteps>([&](int, int step) { return douts[step]; }, chunk_tile + Tiling::kTile,
                                  gradients);
      const bool masked =
          first_key + kChunk > head.keys || (task.causal && first_key + kChunk - 1 > first_query);
      score_gradients(task, head, rows, kept, masked, first_query, first_key, scores, gradients);
      MmaA left[1][kChunk / 16];
      as_left<T>(gradients, left);
      multiply(left, chunk_tile, sums);
    }
  }
  wait_for_copies<0>();
  __syncthreads();  // the stages are free
  store_rows<T>(sums[0], {task.scale, task.scale}, stages + 16 * warp * tile_stride(kHeadSize),
                tensors.dqkv + head.at(first_query, wide), wide, head.rows - first_query, task.head_size);
}

// ---- dK and dV: a block of keys, over the queries ----

// Small heads keep K and V in registers; large ones, whose sums fill these, read them again from their tiles.
template <int kHeadSizeIn>
struct KeyTiling {
  static constexpr int kHeadSize = kHeadSizeIn;
  static constexpr bool kInRegisters = kHeadSize <= 64;
  static constexpr int kQueries = kInRegisters ? 64 : 32;  // of a tile
  static constexpr int kChunk = 16;                        // of them, whose scores are in registers at a time
  static constexpr int kOwnTile = kRows * tile_stride(kHeadSize);
  static constexpr int kTile = kQueries * tile_stride(kHeadSize);
  static constexpr int kStage = 2 * kTile;                      // Q and dO
  static constexpr int kOwn = kInRegisters ? 0 : 2 * kOwnTile;  // else K and V wait in the second stage
  static constexpr int kStatistics = 2 * kQueries;              // of a stage: statistics and deltas, f32
  static constexpr std::size_t kSharedBytes =
      (kOwn + 2 * kStage) * sizeof(std::uint16_t) + 2 * kStatistics * sizeof(float);
  static_assert(!kInRegisters || kQueries == kRows);
  static constexpr int kBlocks = kInRegisters ? 3 : 2;
};

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

// D^T but for keep_scale and dS^T, in place of the scores and of dD^T. `words` are the chunk's of `kept`,
// each for two queries.
template <int kTiles>
__device__ __forceinline__ void transposed_gradients(const AttentionTask& task, const float* statistics,
                                                     const float* deltas,
                                                     const std::uint32_t (&words)[kTiles], bool masked,
                                                     int first_query, int first_key,
                                                     MmaSums (&scores)[1][kTiles],
                                                     MmaSums (&gradients)[1][kTiles]) {
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
    const int column = 8 * t + fragment_column();
    const float2 statistic = *reinterpret_cast<const float2*>(statistics + column);
    const float2 delta = *reinterpret_cast<const float2*>(deltas + column);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      float p =
          fast_exp2(scores[0][t].values[e] * task.scale_log2 - (e % 2 == 0 ? statistic.x : statistic.y));
      if (masked && first_key + fragment_row() + e / 2 * 8 > first_query + column + e % 2) p = 0.0F;
      float weight = p, gradient = gradients[0][t].values[e];
      if (task.kept != nullptr) {
        const bool kept = (words[t] >> (fragment_row() + e / 2 * 8 + e % 2 * kStripKeys) & 1U) != 0;
        weight = kept ? p : 0.0F;
        gradient = kept ? gradient * task.keep_scale : 0.0F;
      }
      scores[0][t].values[e] = weight;
      gradients[0][t].values[e] = p * (gradient - (e % 2 == 0 ? delta.x : delta.y));
    }
  }
}

template <class T, class Tiling>
__global__ void __launch_bounds__(kThreads, Tiling::kBlocks)
    key_kernel(AttentionTask task, Tensors<T> tensors) {
  constexpr int kHeadSize = Tiling::kHeadSize, kSteps = kHeadSize / 16, kQueries = Tiling::kQueries;
  constexpr int kChunk = Tiling::kChunk, kTiles = kChunk / 8;
  const AttentionHead head = head_of_block(task);
  const int block_key = static_cast<int>(blockIdx.x) * kRows;
  if (block_key >= head.rows) return;
  const int warp = static_cast<int>(threadIdx.x) / 32, first_key = block_key + 16 * warp;
  const int hidden = task.hidden(), wide = 3 * hidden;
  T* const own = reinterpret_cast<T*>(dynamic_shared);  // K and V, where they have a place of their own
  T* const stages = own + Tiling::kOwn;
  float* const statistics = reinterpret_cast<float*>(stages + 2 * Tiling::kStage);
  const auto copy_stage = [&](int query, int stage) {
    copy_pair<kQueries, kHeadSize>(task, tensors.qkv + head.at(query, wide),
                                   tensors.dout + head.at(query, hidden), wide, hidden, head.rows - query,
                                   stages + stage * Tiling::kStage);
    copy_statistics<kQueries>(task, head, query, statistics + stage * Tiling::kStatistics);
    commit_copies();
  };

  // Keys that nobody may look at have no gradient; where causal those of the block have none from queries
  // before.
  const int begin = block_key >= head.keys ? head.rows : task.causal ? block_key / kQueries * kQueries : 0;
  T* const key_tile = Tiling::kInRegisters ? stages + Tiling::kStage : own;
  const T* const from = tensors.qkv + head.at(block_key, wide) + hidden;
  copy_pair<kRows, kHeadSize>(task, from, from + hidden, wide, wide, head.keys - block_key, key_tile);
  commit_copies();
  copy_stage(begin, 0);
  wait_for_copies<1>();
  __syncthreads();
  const T* const warp_keys = key_tile + 16 * warp * tile_stride(kHeadSize);
  const T* const warp_values = warp_keys + Tiling::kOwnTile;
  MmaA keys[Tiling::kInRegisters ? kSteps : 1], values[Tiling::kInRegisters ? kSteps : 1];
  if constexpr (Tiling::kInRegisters) {
    load_left_rows(warp_keys, keys);
    load_left_rows(warp_values, values);
  }
  const auto left_of = [](const auto& registers, const T* tile, int step) {
    if constexpr (Tiling::kInRegisters) {
      return registers[step];
    } else {
      return load_left<kHeadSize>(tile + 16 * step);
    }
  };

  MmaSums dkeys[1][2 * kSteps], dvalues[1][2 * kSteps];
  for (int query = begin, stage = 0; query < head.rows; query += kQueries, stage ^= 1) {
    wait_for_copies<0>();
    __syncthreads();  // all threads' copies of this stage are done, and nobody reads the other one any more
    if (query + kQueries < head.rows) copy_stage(query + kQueries, stage ^ 1);
    const T* const query_tile = stages + stage * Tiling::kStage;
#pragma unroll
    for (int chunk = 0; chunk < kQueries; chunk += kChunk) {
      const int first_query = query + chunk;
      if (task.causal && first_query + kChunk - 1 < first_key) continue;
      std::uint32_t words[kTiles] = {};
      if (task.kept != nullptr) {
        const std::uint16_t* const strip =
            kept_words(task, head) + first_key / kStripKeys * task.padded + first_query;
#pragma unroll
        for (int t = 0; t < kTiles; ++t)
          words[t] = *reinterpret_cast<const std::uint32_t*>(strip + 8 * t + fragment_column());
      }
      const T* const queries = query_tile + chunk * tile_stride(kHeadSize);
      const T* const douts = queries + Tiling::kTile;
      MmaSums scores[1][kTiles], gradients[1][kTiles];
      multiply_transposed<kSteps>([&](int, int step) { return left_of(keys, warp_keys, step); }, queries,
                                  scores);
      multiply_transposed<kSteps>([&](int, int step) { return left_of(values, warp_values, step); }, douts,
                                  gradients);
      const float* const of_stage = statistics + stage * Tiling::kStatistics + chunk;
      transposed_gradients(task, of_stage, of_stage + kQueries, words,
                           task.causal && first_query < first_key + 15, first_query, first_key, scores,
                           gradients);
      MmaA left[1][kTiles / 2];
      as_left<T>(scores, left);
      multiply(left, douts, dvalues);
      as_left<T>(gradients, left);
      multiply(left, queries, dkeys);
    }
  }
  wait_for_copies<0>();
  __syncthreads();  // the tiles are free
  float key_factors[2], value_factors[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool seen = first_key + fragment_row() + 8 * half < head.keys;
    key_factors[half] = seen ? task.scale : 0.0F;
    value_factors[half] = seen ? task.keep_scale : 0.0F;
  }
  T* const tile = own + 16 * warp * tile_stride(kHeadSize);
  T* const to = tensors.dqkv + head.at(first_key, wide) + hidden;
  store_rows<T>(dkeys[0], key_factors, tile, to, wide, head.rows - first_key, task.head_size);
  store_rows<T>(dvalues[0], value_factors, tile, to + hidden, wide, head.rows - first_key, task.head_size);
}

}  // namespace

void tiled_attention_backward(Context& context, const AttentionTask& task, std::int64_t sequences,
                              ConstTensorView dout, ConstTensorView out, ConstTensorView qkv,
                              TensorView dqkv) {
  with_tiled_head(qkv.dtype, task.head_size, [&]<class T, int kHeadSize>(TiledHead<T, kHeadSize>) {
    using Queries = QueryTiling<kHeadSize>;
    using Keys = KeyTiling<kHeadSize>;
    const Tensors<T> tensors{elements<T>(dout), elements<T>(out), elements<T>(qkv), elements<T>(dqkv)};
    launch_attention(context, "attention_backward_queries", query_kernel<T, Queries>, task, sequences, kRows,
                     kThreads, Queries::kSharedBytes, tensors);
    launch_attention(context, "attention_backward_keys", key_kernel<T, Keys>, task, sequences, kRows,
                     kThreads, Keys::kSharedBytes, tensors);
  });
}

}  // namespace podium::ops::cuda
