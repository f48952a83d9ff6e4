// attention_backward_queries.cu and attention_backward_keys.cu for Hopper: a block is one warpgroup with 64
// queries, or keys, of a head.
#include "worker/ops/cuda/attention_gradients.cuh"
#include "worker/ops/cuda/attention_warpgroup.h"
#include "worker/ops/cuda/warpgroup_mma.cuh"

namespace podium::ops::cuda {
namespace {

using namespace backward;

static_assert(kRows == kTileRows && kThreads == kWarpgroupThreads);

using Kept = KeptTile<kTileRows, kTileRows>;
constexpr int kStage = 2 * kSwizzledTile;  // the own rows take as much
constexpr std::size_t kSharedBytes = (3 * kStage + 2 * Kept::kWords) * sizeof(std::uint16_t);
constexpr int kStatistics = 2 * kTileRows;  // of a stage: statistics and deltas, f32

// Starts to copy a tile's rows of two tensors.
template <class T>
__device__ __forceinline__ void copy_tiles(const AttentionTask& task, const T* first, const T* second,
                                           int first_stride, int second_stride, int rows, T* tiles) {
  copy_swizzled_tile(tiles, first, first_stride, rows, task.head_size);
  copy_swizzled_tile(tiles + kSwizzledTile, second, second_stride, rows, task.head_size);
}

// Products of the own rows of two tensors with those of two tiles.
template <class T>
__device__ __forceinline__ void multiply_by_own(const T* own, const T* tiles, MmaSums (&scores)[8],
                                                MmaSums (&gradients)[8]) {
  begin_products(scores, gradients);
  start_product_transposed(own, tiles, scores);
  start_product_transposed(own + kSwizzledTile, tiles + kSwizzledTile, gradients);
  wait_for_products(scores, gradients);
}

template <class T>
__global__ void __launch_bounds__(kThreads, 3)
    warpgroup_query_kernel(AttentionTask task, Tensors<T> tensors) {
  const AttentionHead head = head_of_block(task);
  // Where causal the last queries have the most to do, and so go first.
  const int block_query = static_cast<int>(gridDim.x - 1 - blockIdx.x) * kRows;
  if (block_query >= head.rows) return clear_partial_sums(task, head, Part::queries);
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * 16, query = block_query + warp_row;
  const int keys = task.causal ? min(head.keys, block_query + kRows) : head.keys;
  const int hidden = task.hidden(), wide = 3 * hidden;
  T* const own = reinterpret_cast<T*>(dynamic_shared);
  T* const stages = own + kStage;
  auto* const kept = reinterpret_cast<std::uint16_t*>(stages + 2 * kStage);
  const auto copy_stage = [&](int key, int stage) {
    const T* const from = tensors.qkv + head.at(key, wide) + hidden;
    copy_tiles(task, from, from + hidden, wide, wide, head.keys - key, stages + stage * kStage);
    copy_kept<kThreads, Kept>(task, head, block_query, key, kept + stage * Kept::kWords);
    commit_copies();
  };

  copy_tiles(task, tensors.qkv + head.at(block_query, wide), tensors.dout + head.at(block_query, hidden),
             wide, hidden, head.rows - block_query, own);
  commit_copies();
  copy_stage(0, 0);
  const RowStatistics statistics = row_statistics<kTileColumns>(task, head, tensors, query);
  MmaSums sums[8];

  for (int key = 0, stage = 0; key < keys; key += kTileRows, stage ^= 1) {
    wait_for_copies<0>();
    show_copies_to_products();
    __syncthreads();  // all threads' copies of this stage are done, and nobody reads the other one any more
    if (key + kTileRows < keys) copy_stage(key + kTileRows, stage ^ 1);
    const T* const tiles = stages + stage * kStage;
    MmaSums scores[1][8], gradients[1][8];
    multiply_by_own(own, tiles, scores[0], gradients[0]);
    if (key + kTileRows > head.keys || (task.causal && key + kTileRows - 1 > query))
      mask(task, head, query, key, scores);
    if (task.kept != nullptr) {
      KeptScores<1, 8> scores_kept;
      scores_kept.load(kept + stage * Kept::kWords + warp_row, Kept{});
      drop(scores_kept, gradients);
    }
    score_gradients(task, statistics, scores, gradients);
    MmaA left[1][kTileSteps];
    as_left<T>(gradients, left);
    begin_products(left[0], sums);
    start_product(left[0], tiles, sums);
    wait_for_products(left[0], sums);
  }
  wait_for_copies<0>();
  __syncthreads();  // the stages are free
  store_query_gradients(task, head, query, sums, stages + warp_row * tile_stride(kTileColumns),
                        reinterpret_cast<float*>(stages + kStage), tensors.dqkv);
}

template <class T>
__global__ void __launch_bounds__(kThreads, 2) warpgroup_key_kernel(AttentionTask task, Tensors<T> tensors) {
  const AttentionHead head = head_of_block(task);
  const int block_key = static_cast<int>(blockIdx.x) * kRows;
  if (block_key >= head.rows) {
    clear_partial_sums(task, head, Part::keys);
    return clear_partial_sums(task, head, Part::values);
  }
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * 16, key = block_key + warp_row;
  const int hidden = task.hidden(), wide = 3 * hidden;
  T* const own = reinterpret_cast<T*>(dynamic_shared);
  T* const stages = own + kStage;
  auto* const kept = reinterpret_cast<std::uint16_t*>(stages + 2 * kStage);
  auto* const statistics = reinterpret_cast<float*>(kept + 2 * Kept::kWords);
  const auto copy_stage = [&](int query, int stage) {
    copy_tiles(task, tensors.qkv + head.at(query, wide), tensors.dout + head.at(query, hidden), wide, hidden,
               head.rows - query, stages + stage * kStage);
    copy_statistics<kTileRows>(task, head, query, statistics + stage * kStatistics);
    copy_kept<kThreads, Kept>(task, head, query, block_key, kept + stage * Kept::kWords);
    commit_copies();
  };

  // Keys that nobody may look at have no gradient; where causal none comes from queries before the block.
  const int begin = block_key >= head.keys ? head.rows : task.causal ? block_key : 0;
  const T* const from = tensors.qkv + head.at(block_key, wide) + hidden;
  copy_tiles(task, from, from + hidden, wide, wide, head.keys - block_key, own);
  if (begin < head.rows)
    copy_stage(begin, 0);
  else
    commit_copies();
  MmaSums dkeys[8], dvalues[8];

  for (int query = begin, stage = 0; query < head.rows; query += kTileRows, stage ^= 1) {
    wait_for_copies<0>();
    show_copies_to_products();
    __syncthreads();  // all threads' copies of this stage are done, and nobody reads the other one any more
    if (query + kTileRows < head.rows) copy_stage(query + kTileRows, stage ^ 1);
    const T* const tiles = stages + stage * kStage;
    MmaSums scores[1][8], gradients[1][8];
    multiply_by_own(own, tiles, scores[0], gradients[0]);
    if (task.causal && query < key + 15) mask_transposed(query, key, scores);
    const float* const of_queries = statistics + stage * kStatistics;
    transposed_gradients(task, of_queries, of_queries + kTileRows,
                         kept + stage * Kept::kWords + warp_row / kStripKeys * kTileRows, scores, gradients);
    MmaA weights[1][kTileSteps], score_gradients[1][kTileSteps];
    as_left<T>(scores, weights);
    as_left<T>(gradients, score_gradients);
    begin_products(weights[0], score_gradients[0], dvalues, dkeys);
    start_product(weights[0], tiles + kSwizzledTile, dvalues);
    start_product(score_gradients[0], tiles, dkeys);
    wait_for_products(weights[0], score_gradients[0], dvalues, dkeys);
  }
  wait_for_copies<0>();
  __syncthreads();  // the stages are free
  store_key_gradients(task, head, key, dkeys, dvalues, stages + warp_row * tile_stride(kTileColumns),
                      reinterpret_cast<float*>(stages + kStage), tensors.dqkv);
}

}  // namespace

template <class T>
void warpgroup_attention_backward_queries(Context& context, const AttentionTask& task, std::int64_t sequences,
                                          const Tensors<T>& tensors) {
  launch_attention(context, "attention_backward_queries", warpgroup_query_kernel<T>, task, sequences, kRows,
                   kThreads, kSharedBytes, tensors);
}

template <class T>
void warpgroup_attention_backward_keys(Context& context, const AttentionTask& task, std::int64_t sequences,
                                       const Tensors<T>& tensors) {
  launch_attention(context, "attention_backward_keys", warpgroup_key_kernel<T>, task, sequences, kRows,
                   kThreads, kSharedBytes + 2 * kStatistics * sizeof(float), tensors);
}

#define PODIUM_INSTANTIATE(T)                                                                      \
  template void warpgroup_attention_backward_queries(Context&, const AttentionTask&, std::int64_t, \
                                                     const Tensors<T>&);                           \
  template void warpgroup_attention_backward_keys(Context&, const AttentionTask&, std::int64_t,    \
                                                  const Tensors<T>&)
PODIUM_INSTANTIATE(__half);
PODIUM_INSTANTIATE(__nv_bfloat16);
#undef PODIUM_INSTANTIATE

}  // namespace podium::ops::cuda
