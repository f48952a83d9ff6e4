// Attention's gradient on tensor cores (FlashAttention-2's formulas; Dao, 2023). Probabilities come again
// from the scores and forward's statistics. No sum is shared between blocks, so the bits follow from the
// inputs: one kernel goes over the keys for a block of queries, then one over the queries for a block of
// keys, at the price of computing P and dP twice (seven products where atomic additions would do with five).
//
//   P = 2^(Q K^T * scale_log2 - statistic)   D = kept P * keep_scale   delta = rowsum(dO * O)
//   dD = dO V^T                               dS = P * (kept dD * keep_scale - delta)
//   dQ = scale dS K     dK = scale dS^T Q     dV = D^T dO
//
// The second kernel (attention_backward_keys.cu) computes P^T and dP^T, whose fragments are then left
// operands as they are.
#include "worker/ops/cuda/attention_backward.cuh"
#include "worker/ops/cuda/attention_kept.cuh"

namespace podium::ops::cuda {
namespace {

using namespace backward;

template <int kHeadSizeIn>
struct QueryTiling {
  static constexpr int kHeadSize = kHeadSizeIn;
  static constexpr int kKeys = kRows;  // of a tile: Q and dO wait where the second stage will be
  static constexpr int kChunk = 32;    // of them, whose scores are in registers at a time
  static constexpr int kTile = kKeys * tile_stride(kHeadSize);
  static constexpr int kStage = 2 * kTile;  // K and V
  static constexpr std::size_t kSharedBytes = 2 * kStage * sizeof(std::uint16_t);
};

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

// A warp's 16 queries, and their part of dQ so far.
template <int kSteps>
struct QueryRows {
  int first;
  RowStatistics statistics;
  MmaA queries[kSteps], douts[kSteps];
  MmaSums sums[1][2 * kSteps];
};

// The part of dQ that comes from kChunk keys, whose rows of K and V lie in shared memory.
template <int kChunk, class T, int kSteps>
__device__ __forceinline__ void add_keys(const AttentionTask& task, const AttentionHead& head, int first_key,
                                         const T* keys, const T* values, QueryRows<kSteps>& rows) {
  KeptScores<1, kChunk / 8> kept;
  kept.fetch(task, head, rows.first, first_key);
  MmaSums scores[1][kChunk / 8], gradients[1][kChunk / 8];
  multiply_transposed<kSteps>([&](int, int step) { return rows.queries[step]; }, keys, scores);
  multiply_transposed<kSteps>([&](int, int step) { return rows.douts[step]; }, values, gradients);
  const bool masked = first_key + kChunk > head.keys || (task.causal && first_key + kChunk - 1 > rows.first);
  score_gradients(task, head, rows.statistics, kept, masked, rows.first, first_key, scores, gradients);
  MmaA left[1][kChunk / 16];
  as_left<T>(gradients, left);
  multiply(left, keys, rows.sums);
}

template <class T, class Tiling>
__global__ void __launch_bounds__(kThreads) query_kernel(AttentionTask task, Tensors<T> tensors) {
  constexpr int kHeadSize = Tiling::kHeadSize, kKeys = Tiling::kKeys, kChunk = Tiling::kChunk;
  const AttentionHead head = head_of_block(task);
  // Where causal the last queries have the most to do, and so go first.
  const int block_query = static_cast<int>(gridDim.x - 1 - blockIdx.x) * kRows;
  if (block_query >= head.rows) return clear_partial_sums(task, head, Part::queries);
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * 16;
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
  QueryRows<kHeadSize / 16> rows{.first = block_query + warp_row};
  rows.statistics = row_statistics(task, head, tensors, rows.first);
  wait_for_copies<1>();
  __syncthreads();
  T* const warp_tile = own + warp_row * tile_stride(kHeadSize);
  load_left_rows(warp_tile, rows.queries);
  load_left_rows(warp_tile + Tiling::kTile, rows.douts);

  for (int key = 0, stage = 0; key < keys; key += kKeys, stage ^= 1) {
    wait_for_copies<0>();
    __syncthreads();  // all threads' copies of this stage are done, and nobody reads the other one any more
    if (key + kKeys < keys) copy_stage(key + kKeys, stages + (stage ^ 1) * Tiling::kStage);
    const T* const key_tile = stages + stage * Tiling::kStage;
#pragma unroll
    for (int chunk = 0; chunk < kKeys; chunk += kChunk) {
      if (task.causal && key + chunk > rows.first + 15) break;
      const T* const chunk_tile = key_tile + chunk * tile_stride(kHeadSize);
      add_keys<kChunk>(task, head, key + chunk, chunk_tile, chunk_tile + Tiling::kTile, rows);
    }
  }
  wait_for_copies<0>();
  __syncthreads();  // the stages are free
  const float factors[2] = {rows.first + fragment_row() < head.rows ? task.scale : 0.0F,
                            rows.first + fragment_row() + 8 < head.rows ? task.scale : 0.0F};
  store_partial_sums(task, head, Part::queries, rows.sums[0], factors,
                     reinterpret_cast<float*>(stages + Tiling::kTile));
  store_rows<T>(rows.sums[0], factors, stages + warp_row * tile_stride(kHeadSize),
                tensors.dqkv + head.at(rows.first, wide), wide, head.rows - rows.first, task.head_size);
}

}  // namespace

void tiled_attention_backward_queries(Context& context, const AttentionTask& task, std::int64_t sequences,
                                      ConstTensorView dout, ConstTensorView out, ConstTensorView qkv,
                                      TensorView dqkv) {
  with_tiled_head(qkv.dtype, task.head_size, [&]<class T, int kHeadSize>(TiledHead<T, kHeadSize>) {
    using Tiling = QueryTiling<kHeadSize>;
    const Tensors<T> tensors{elements<T>(dout), elements<T>(out), elements<T>(qkv), elements<T>(dqkv)};
    launch_attention(context, "attention_backward_queries", query_kernel<T, Tiling>, task, sequences, kRows,
                     kThreads, Tiling::kSharedBytes, tensors);
  });
}

}  // namespace podium::ops::cuda
