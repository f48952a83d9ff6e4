// out = dropout(softmax(Q K^T * scale)) V on tensor cores, one pass over the keys: FlashAttention-2 (Dao,
// 2023; the softmax that goes along is Milakov and Gimelshein's, 2018). A block computes kQueries rows of one
// head; each warp keeps its rows' Q and sums in registers, so that warps share nothing but the tiles of K and
// V, of which the next is copied while one is multiplied.
//
//   S = Q K_j^T    m' = max(m, rowmax S)    P = 2^(S - m')    l = l 2^(m - m') + rowsum P
//   O = O 2^(m - m') + kept P V_j           out = O * keep_scale / l      statistic = m + log2 l
#include "worker/ops/cuda/attention_kept.cuh"
#include "worker/ops/cuda/attention_kernels.h"
#include "worker/ops/cuda/attention_launch.h"
#include "worker/ops/cuda/attention_results.cuh"
#include "worker/ops/cuda/attention_warpgroup.h"

namespace podium::ops::cuda {
namespace {

constexpr int kKeys = 64;  // of a tile

template <int kHeadSizeIn, int kWarps, int kRowTilesIn>
struct Tiling {
  static constexpr int kHeadSize = kHeadSizeIn, kRowTiles = kRowTilesIn;  // of 16 rows, for each warp
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kQueries = 16 * kWarps * kRowTiles;
  using Kept = KeptTile<kQueries, kKeys>;
  static constexpr int kTile = kKeys * tile_stride(kHeadSize);  // elements
  static constexpr int kStage = 2 * kTile + Kept::kWords;       // K, V and what dropout keeps
  static constexpr std::size_t kSharedBytes = 2 * kStage * sizeof(std::uint16_t);
  static_assert(kQueries <= 2 * kKeys, "Q waits where the second stage will be");
};

template <class Tiling, class T>
__device__ __forceinline__ std::uint16_t* kept_of(T* stage) {
  return reinterpret_cast<std::uint16_t*>(stage + 2 * Tiling::kTile);
}

template <class Tiling, class T>
__device__ __forceinline__ void copy_stage(const AttentionTask& task, const AttentionHead& head, const T* qkv,
                                           int query, int key, T* stage) {
  const int stride = 3 * task.hidden();
  const T* const keys = qkv + head.at(key, stride) + task.hidden();
  const int rows = head.keys - key;
  copy_tile<Tiling::kThreads, kKeys, Tiling::kHeadSize>(stage, keys, stride, rows, task.head_size);
  copy_tile<Tiling::kThreads, kKeys, Tiling::kHeadSize>(stage + Tiling::kTile, keys + task.hidden(), stride,
                                                        rows, task.head_size);
  copy_kept<Tiling::kThreads, typename Tiling::Kept>(task, head, query, key, kept_of<Tiling>(stage));
}

// A warp's queries, and what came of the keys so far.
template <int kRowTiles, int kSteps>
struct QueryRows {
  int first;
  MmaA queries[kRowTiles][kSteps];
  MmaSums sums[kRowTiles][2 * kSteps];
  Softmax<kRowTiles> softmax;
};

// What follows from a tile of keys, K and V in shared memory; `words` are those of the warp's first query.
template <class Tiling, class T, int kRowTiles, int kSteps>
__device__ __forceinline__ void add_keys(const AttentionTask& task, const AttentionHead& head, int key,
                                         const T* keys, const T* values, const std::uint16_t* words,
                                         QueryRows<kRowTiles, kSteps>& rows) {
  MmaSums scores[kRowTiles][kKeys / 8];
  multiply_transposed<kSteps>([&](int r, int step) { return rows.queries[r][step]; }, keys, scores);
  if (key + kKeys > head.keys || (task.causal && key + kKeys - 1 > rows.first))
    mask(task, head, rows.first, key, scores);
  softmax(task.scale_log2, scores, rows.softmax, rows.sums);
  if (task.kept != nullptr) {
    KeptScores<kRowTiles, kKeys / 8> kept;
    kept.load(words, typename Tiling::Kept{});
    drop(kept, scores);
  }
  MmaA weights[kRowTiles][kKeys / 16];
  as_left<T>(scores, weights);
  multiply(weights, values, rows.sums);
}

template <class T, class Out, class Tiling>
__global__ void __launch_bounds__(Tiling::kThreads)
    forward_kernel(AttentionTask task, const T* qkv, Out* out, float out_factor) {
  constexpr int kHeadSize = Tiling::kHeadSize, kRowTiles = Tiling::kRowTiles, kSteps = kHeadSize / 16;
  const AttentionHead head = head_of_block(task);
  // Where causal the last queries have the most to do, and so go first.
  const int block_query = static_cast<int>(gridDim.x - 1 - blockIdx.x) * Tiling::kQueries;
  if (block_query >= head.rows) return;
  const int warp = static_cast<int>(threadIdx.x) / 32, warp_row = 16 * kRowTiles * warp;
  const int keys = task.causal ? min(head.keys, block_query + Tiling::kQueries) : head.keys;
  T* const stages = reinterpret_cast<T*>(dynamic_shared);

  T* const query_tile = stages + Tiling::kStage;
  copy_tile<Tiling::kThreads, Tiling::kQueries, kHeadSize>(
      query_tile, qkv + head.at(block_query, 3 * task.hidden()), 3 * task.hidden(), head.rows - block_query,
      task.head_size);
  commit_copies();
  copy_stage<Tiling>(task, head, qkv, block_query, 0, stages);
  commit_copies();
  wait_for_copies<1>();
  __syncthreads();
  QueryRows<kRowTiles, kSteps> rows{.first = block_query + warp_row};
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r)
    load_left_rows(query_tile + (warp_row + 16 * r) * tile_stride(kHeadSize), rows.queries[r]);

  const int seen_keys = task.causal ? min(keys, rows.first + 16 * kRowTiles) : keys;
  for (int key = 0, stage = 0; key < keys; key += kKeys, stage ^= 1) {
    wait_for_copies<0>();
    __syncthreads();  // all threads' copies of this stage are done, and nobody reads the other one any more
    if (key + kKeys < keys)
      copy_stage<Tiling>(task, head, qkv, block_query, key + kKeys, stages + (stage ^ 1) * Tiling::kStage);
    commit_copies();
    if (key >= seen_keys) continue;
    T* const tiles = stages + stage * Tiling::kStage;
    add_keys<Tiling>(task, head, key, tiles, tiles + Tiling::kTile, kept_of<Tiling>(tiles) + warp_row, rows);
  }
  wait_for_copies<0>();
  __syncthreads();  // the stages are free
  store_results(task, head, rows.first, rows.sums, rows.softmax, stages + 16 * warp * tile_stride(kHeadSize),
                out, out_factor);
}

// Small heads give a warp twice the rows for what it reads of K and V; larger ones give a block more warps
// instead. Neither where that would leave the device without work: a block for each of its processors at
// least.
constexpr std::int64_t kWideBlocks = 256;

template <class T, class Out, int kHeadSize>
void launch_forward(Context& context, const AttentionTask& task, std::int64_t sequences, const T* qkv,
                    Out* out, float out_factor) {
  if constexpr (kHeadSize == kWarpgroupHeadSize) {
    if (cuda_state(context).multiplies_by_warpgroups())
      return warpgroup_attention_forward(context, task, sequences, qkv, out, out_factor);
  }
  const auto launch_tiled = [&]<class Tiles>(Tiles) {
    launch_attention(context, "attention_forward", forward_kernel<T, Out, Tiles>, task, sequences,
                     Tiles::kQueries, Tiles::kThreads, Tiles::kSharedBytes, qkv, out, out_factor);
  };
  using Narrow = Tiling<kHeadSize, 4, 1>;
  using Wide = Tiling<kHeadSize, kHeadSize <= 64 ? 4 : 8, kHeadSize <= 64 ? 2 : 1>;
  const std::int64_t blocks = sequences * task.heads * ((task.length + Wide::kQueries - 1) / Wide::kQueries);
  if (blocks >= kWideBlocks) return launch_tiled(Wide{});
  launch_tiled(Narrow{});
}

}  // namespace

void tiled_attention_forward(Context& context, const AttentionTask& task, std::int64_t sequences,
                             ConstTensorView qkv, TensorView out) {
  with_tiled_head(qkv.dtype, task.head_size, [&]<class T, int kHeadSize>(TiledHead<T, kHeadSize>) {
    launch_forward<T, T, kHeadSize>(context, task, sequences, elements<T>(qkv), elements<T>(out), 1.0F);
  });
}

void tiled_attention_forward_quantised(Context& context, const AttentionTask& task, std::int64_t sequences,
                                       ConstTensorView qkv, const QuantisedCopy& out) {
  with_quantised_type(out.values.dtype, [&]<class Q>(Type<Q>) {
    launch_forward<__half, Q, kQuantisedHeadSize>(context, task, sequences, elements<__half>(qkv),
                                                  elements<Q>(out.values), 1.0F / out.scale);
  });
}

}  // namespace podium::ops::cuda
