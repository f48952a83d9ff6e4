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
#include "worker/ops/cuda/attention_gradients.cuh"
#include "worker/ops/cuda/attention_warpgroup.h"

namespace podium::ops::cuda {
namespace {

using namespace backward;

template <int kHeadSizeIn>
struct QueryTiling {
  static constexpr int kHeadSize = kHeadSizeIn;
  static constexpr int kBlocks = kHeadSize <= 64 ? 4 : 1;  // that a processor holds at least
  static constexpr int kKeys = kRows;  // of a tile: Q and dO wait where the second stage will be
  static constexpr int kChunk = 32;    // of them, whose scores are in registers at a time
  using Kept = KeptTile<kRows, kKeys>;
  static constexpr int kTile = kKeys * tile_stride(kHeadSize);
  static constexpr int kStage = 2 * kTile + Kept::kWords;  // K, V and what dropout keeps
  static constexpr std::size_t kSharedBytes = 2 * kStage * sizeof(std::uint16_t);
};

// A warp's 16 queries, and their part of dQ so far.
template <int kSteps>
struct QueryRows {
  int first;
  RowStatistics statistics;
  MmaA queries[kSteps], douts[kSteps];
  MmaSums sums[1][2 * kSteps];
};

// The part of dQ that comes from kChunk keys, whose rows of K and V lie in shared memory; `words` are those
// of the warp's first query.
template <class Tiling, class T, int kSteps>
__device__ __forceinline__ void add_keys(const AttentionTask& task, const AttentionHead& head, int first_key,
                                         const T* keys, const T* values, const std::uint16_t* words,
                                         QueryRows<kSteps>& rows) {
  constexpr int kChunk = Tiling::kChunk;
  MmaSums scores[1][kChunk / 8], gradients[1][kChunk / 8];
  multiply_transposed<kSteps>([&](int, int step) { return rows.queries[step]; }, keys, scores);
  multiply_transposed<kSteps>([&](int, int step) { return rows.douts[step]; }, values, gradients);
  if (first_key + kChunk > head.keys || (task.causal && first_key + kChunk - 1 > rows.first))
    mask(task, head, rows.first, first_key, scores);
  if (task.kept != nullptr) {
    KeptScores<1, kChunk / 8> kept;
    kept.load(words, typename Tiling::Kept{});
    drop(kept, gradients);
  }
  score_gradients(task, rows.statistics, scores, gradients);
  MmaA left[1][kChunk / 16];
  as_left<T>(gradients, left);
  multiply(left, keys, rows.sums);
}

template <class T, class Tiling>
__global__ void __launch_bounds__(kThreads, Tiling::kBlocks)
    query_kernel(AttentionTask task, Tensors<T> tensors) {
  constexpr int kHeadSize = Tiling::kHeadSize, kKeys = Tiling::kKeys, kChunk = Tiling::kChunk;
  const AttentionHead head = head_of_block(task);
  // Where causal the last queries have the most to do, and so go first.
  const int block_query = static_cast<int>(gridDim.x - 1 - blockIdx.x) * kRows;
  if (block_query >= head.rows) return clear_partial_sums(task, head, Part::queries);
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * 16;
  const int keys = task.causal ? min(head.keys, block_query + kRows) : head.keys;
  const int hidden = task.hidden(), wide = 3 * hidden;
  T* const stages = reinterpret_cast<T*>(dynamic_shared);
  const auto kept_of = [](T* stage) { return reinterpret_cast<std::uint16_t*>(stage + 2 * Tiling::kTile); };
  const auto copy_stage = [&](int key, T* stage) {
    const T* const from = tensors.qkv + head.at(key, wide) + hidden;
    copy_pair<kKeys, kHeadSize>(task, from, from + hidden, wide, wide, head.keys - key, stage);
    copy_kept<kThreads, typename Tiling::Kept>(task, head, block_query, key, kept_of(stage));
    commit_copies();
  };

  T* const own = stages + Tiling::kStage;
  copy_pair<kRows, kHeadSize>(task, tensors.qkv + head.at(block_query, wide),
                              tensors.dout + head.at(block_query, hidden), wide, hidden,
                              head.rows - block_query, own);
  commit_copies();
  copy_stage(0, stages);
  QueryRows<kHeadSize / 16> rows{.first = block_query + warp_row};
  rows.statistics = row_statistics<kHeadSize>(task, head, tensors, rows.first);
  wait_for_copies<1>();
  __syncthreads();
  T* const warp_tile = own + warp_row * tile_stride(kHeadSize);
  load_left_rows(warp_tile, rows.queries);
  load_left_rows(warp_tile + Tiling::kTile, rows.douts);

  const int seen_keys = task.causal ? min(keys, rows.first + 16) : keys;
  for (int key = 0, stage = 0; key < keys; key += kKeys, stage ^= 1) {
    wait_for_copies<0>();
    __syncthreads();  // all threads' copies of this stage are done, and nobody reads the other one any more
    if (key + kKeys < keys) copy_stage(key + kKeys, stages + (stage ^ 1) * Tiling::kStage);
    T* const tiles = stages + stage * Tiling::kStage;
    const std::uint16_t* const words = kept_of(tiles) + warp_row;
#pragma unroll
    for (int chunk = 0; chunk < kKeys; chunk += kChunk) {
      if (key + chunk >= seen_keys) break;
      const T* const chunk_tile = tiles + chunk * tile_stride(kHeadSize);
      add_keys<Tiling>(task, head, key + chunk, chunk_tile, chunk_tile + Tiling::kTile,
                       words + chunk / kStripKeys * kRows, rows);
    }
  }
  wait_for_copies<0>();
  __syncthreads();  // the stages are free
  store_query_gradients(task, head, rows.first, rows.sums[0], stages + warp_row * tile_stride(kHeadSize),
                        reinterpret_cast<float*>(stages + Tiling::kTile), tensors.dqkv);
}

}  // namespace

void tiled_attention_backward_queries(Context& context, const AttentionTask& task, std::int64_t sequences,
                                      ConstTensorView dout, ConstTensorView out, ConstTensorView qkv,
                                      TensorView dqkv) {
  with_tiled_head(qkv.dtype, task.head_size, [&]<class T, int kHeadSize>(TiledHead<T, kHeadSize>) {
    const Tensors<T> tensors{elements<T>(dout), elements<T>(out), elements<T>(qkv), elements<T>(dqkv)};
    if constexpr (kHeadSize == kWarpgroupHeadSize) {
      if (cuda_state(context).multiplies_by_warpgroups())
        return warpgroup_attention_backward_queries(context, task, sequences, tensors);
    }
    using Tiling = QueryTiling<kHeadSize>;
    launch_attention(context, "attention_backward_queries", query_kernel<T, Tiling>, task, sequences, kRows,
                     kThreads, Tiling::kSharedBytes, tensors);
  });
}

}  // namespace podium::ops::cuda
