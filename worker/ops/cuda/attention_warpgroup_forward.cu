// attention_forward.cu for Hopper: a block is one warpgroup with 64 queries of a head.
#include "worker/ops/cuda/attention_kept.cuh"
#include "worker/ops/cuda/attention_launch.h"
#include "worker/ops/cuda/attention_results.cuh"
#include "worker/ops/cuda/attention_warpgroup.h"
#include "worker/ops/cuda/warpgroup_mma.cuh"

namespace podium::ops::cuda {
namespace {

using Kept = KeptTile<kTileRows, kTileRows>;
constexpr int kStage = 2 * kSwizzledTile;  // K and V
constexpr std::size_t kSharedBytes = (kSwizzledTile + 2 * kStage + 2 * Kept::kWords) * sizeof(std::uint16_t);
constexpr int kBlocks = 4;  // that a processor holds

// A warp's queries, and what came of the keys so far.
struct Results {
  int first;
  MmaSums sums[1][8];
  Softmax<1> softmax;
};

// What follows from a tile of keys, which all copies are done of; `words` are those of the warp's first
// query.
template <class T>
__device__ __forceinline__ void add_keys(const AttentionTask& task, const AttentionHead& head, int key,
                                         const T* queries, const T* keys, const std::uint16_t* words,
                                         Results& results) {
  MmaSums scores[1][8];
  begin_products(scores[0]);
  start_product_transposed(queries, keys, scores[0]);
  wait_for_products(scores[0]);
  if (key + kTileRows > head.keys || (task.causal && key + kTileRows - 1 > results.first))
    mask(task, head, results.first, key, scores);
  softmax(task.scale_log2, scores, results.softmax, results.sums);
  if (task.kept != nullptr) {
    KeptScores<1, 8> kept;
    kept.load(words, Kept{});
    drop(kept, scores);
  }
  MmaA weights[1][kTileSteps];
  as_left<T>(scores, weights);
  begin_products(weights[0], results.sums[0]);
  start_product(weights[0], keys + kSwizzledTile, results.sums[0]);
  wait_for_products(weights[0], results.sums[0]);
}

template <class T, class Out>
__global__ void __launch_bounds__(kWarpgroupThreads, kBlocks)
    warpgroup_forward_kernel(AttentionTask task, const T* qkv, Out* out, float out_factor) {
  const AttentionHead head = head_of_block(task);
  // Where causal the last queries have the most to do, and so go first.
  const int block_query = static_cast<int>(gridDim.x - 1 - blockIdx.x) * kTileRows;
  if (block_query >= head.rows) return;
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * 16, wide = 3 * task.hidden();
  const int keys = task.causal ? min(head.keys, block_query + kTileRows) : head.keys;
  T* const queries = reinterpret_cast<T*>(dynamic_shared);
  T* const stages = queries + kSwizzledTile;
  auto* const kept = reinterpret_cast<std::uint16_t*>(stages + 2 * kStage);
  const auto copy_stage = [&](int key, int stage) {
    T* const tiles = stages + stage * kStage;
    const T* const from = qkv + head.at(key, wide) + task.hidden();
    copy_swizzled_tile(tiles, from, wide, head.keys - key, task.head_size);
    copy_swizzled_tile(tiles + kSwizzledTile, from + task.hidden(), wide, head.keys - key, task.head_size);
    copy_kept<kWarpgroupThreads, Kept>(task, head, block_query, key, kept + stage * Kept::kWords);
    commit_copies();
  };

  copy_swizzled_tile(queries, qkv + head.at(block_query, wide), wide, head.rows - block_query,
                     task.head_size);
  copy_stage(0, 0);
  Results results{.first = block_query + warp_row};

  for (int key = 0, stage = 0; key < keys; key += kTileRows, stage ^= 1) {
    wait_for_copies<0>();
    show_copies_to_products();
    __syncthreads();  // all threads' copies of this stage are done, and nobody reads the other one any more
    if (key + kTileRows < keys) copy_stage(key + kTileRows, stage ^ 1);
    add_keys(task, head, key, queries, stages + stage * kStage, kept + stage * Kept::kWords + warp_row,
             results);
  }
  wait_for_copies<0>();
  __syncthreads();  // the stages are free
  store_results(task, head, results.first, results.sums, results.softmax,
                stages + warp_row * tile_stride(kTileColumns), out, out_factor);
}

}  // namespace

template <class T, class Out>
void warpgroup_attention_forward(Context& context, const AttentionTask& task, std::int64_t sequences,
                                 const T* qkv, Out* out, float out_factor) {
  launch_attention(context, "attention_forward", warpgroup_forward_kernel<T, Out>, task, sequences, kTileRows,
                   kWarpgroupThreads, kSharedBytes, qkv, out, out_factor);
}

template void warpgroup_attention_forward(Context&, const AttentionTask&, std::int64_t, const __half*,
                                          __half*, float);
template void warpgroup_attention_forward(Context&, const AttentionTask&, std::int64_t, const __half*,
                                          std::int8_t*, float);
template void warpgroup_attention_forward(Context&, const AttentionTask&, std::int64_t, const __half*,
                                          Float8E4M3*, float);
template void warpgroup_attention_forward(Context&, const AttentionTask&, std::int64_t, const __nv_bfloat16*,
                                          __nv_bfloat16*, float);

}  // namespace podium::ops::cuda
