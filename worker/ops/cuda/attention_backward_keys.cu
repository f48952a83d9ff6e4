// dK and dV of attention on tensor cores: a block of keys, over the queries; formulas in
// attention_backward_queries.cu, which computes the deltas first. P^T and dP^T are computed, so that their
// fragments are left operands as they are.
#include "worker/ops/cuda/attention_gradients.cuh"
#include "worker/ops/cuda/attention_warpgroup.h"

namespace podium::ops::cuda {
namespace {

using namespace backward;

// Small heads keep K and V in registers; large ones, whose sums fill these, read them again from their tiles.
template <int kHeadSizeIn>
struct KeyTiling {
  static constexpr int kHeadSize = kHeadSizeIn;
  static constexpr bool kInRegisters = kHeadSize <= 64;
  static constexpr int kQueries = kInRegisters ? 64 : 32;  // of a tile
  static constexpr int kChunk = kInRegisters ? 32 : 16;    // of them, whose scores are in registers at a time
  using Kept = KeptTile<kQueries, kRows>;
  static constexpr int kOwnTile = kRows * tile_stride(kHeadSize);
  static constexpr int kTile = kQueries * tile_stride(kHeadSize);
  static constexpr int kStage = 2 * kTile + Kept::kWords;       // Q, dO and what dropout keeps
  static constexpr int kOwn = kInRegisters ? 0 : 2 * kOwnTile;  // else K and V wait in the second stage
  static constexpr int kStatistics = 2 * kQueries;              // of a stage: statistics and deltas, f32
  static constexpr std::size_t kSharedBytes =
      (kOwn + 2 * kStage) * sizeof(std::uint16_t) + 2 * kStatistics * sizeof(float);
  static_assert(!kInRegisters || kQueries == kRows);
  static constexpr int kBlocks = kInRegisters ? 3 : 2;
};

// A warp's 16 rows of K or V as the left operand.
template <class T, class Tiling>
class OwnRows {
 public:
  __device__ __forceinline__ explicit OwnRows(const T* tile) : tile_(tile) {
    if constexpr (Tiling::kInRegisters) load_left_rows(tile, registers_);
  }
  __device__ __forceinline__ MmaA operator()(int, int step) const {
    if constexpr (Tiling::kInRegisters) {
      return registers_[step];
    } else {
      return load_left<Tiling::kHeadSize>(tile_ + 16 * step);
    }
  }

 private:
  const T* tile_;
  MmaA registers_[Tiling::kInRegisters ? Tiling::kHeadSize / 16 : 1];
};

// A warp's 16 keys, and their part of the gradient so far.
template <class T, class Tiling>
struct KeyRows {
  int first;
  OwnRows<T, Tiling> keys, values;
  MmaSums dkeys[1][Tiling::kHeadSize / 8], dvalues[1][Tiling::kHeadSize / 8];
};

// The part of the gradient that comes from a chunk of queries, whose rows of Q and dO lie in shared memory.
template <class T, class Tiling>
__device__ __forceinline__ void add_queries(const AttentionTask& task, int first_query, const T* queries,
                                            const T* douts, const float* statistics,
                                            const std::uint16_t* words, KeyRows<T, Tiling>& rows) {
  constexpr int kSteps = Tiling::kHeadSize / 16, kTiles = Tiling::kChunk / 8;
  MmaSums scores[1][kTiles], gradients[1][kTiles];
  multiply_transposed<kSteps>(rows.keys, queries, scores);
  multiply_transposed<kSteps>(rows.values, douts, gradients);
  if (task.causal && first_query < rows.first + 15) mask_transposed(first_query, rows.first, scores);
  transposed_gradients(task, statistics, statistics + Tiling::kQueries, words, scores, gradients);
  MmaA left[1][kTiles / 2];
  as_left<T>(scores, left);
  multiply(left, douts, rows.dvalues);
  as_left<T>(gradients, left);
  multiply(left, queries, rows.dkeys);
}

template <class T, class Tiling>
__global__ void __launch_bounds__(kThreads, Tiling::kBlocks)
    key_kernel(AttentionTask task, Tensors<T> tensors) {
  constexpr int kHeadSize = Tiling::kHeadSize, kQueries = Tiling::kQueries, kChunk = Tiling::kChunk;
  const AttentionHead head = head_of_block(task);
  const int block_key = static_cast<int>(blockIdx.x) * kRows;
  if (block_key >= head.rows) {
    clear_partial_sums(task, head, Part::keys);
    return clear_partial_sums(task, head, Part::values);
  }
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * 16;
  const int hidden = task.hidden(), wide = 3 * hidden;
  T* const own = reinterpret_cast<T*>(dynamic_shared);  // K and V, where they have a place of their own
  T* const stages = own + Tiling::kOwn;
  float* const statistics = reinterpret_cast<float*>(stages + 2 * Tiling::kStage);
  const auto kept_of = [&](int stage) {
    return reinterpret_cast<std::uint16_t*>(stages + stage * Tiling::kStage + 2 * Tiling::kTile);
  };
  const auto copy_stage = [&](int query, int stage) {
    copy_pair<kQueries, kHeadSize>(task, tensors.qkv + head.at(query, wide),
                                   tensors.dout + head.at(query, hidden), wide, hidden, head.rows - query,
                                   stages + stage * Tiling::kStage);
    copy_statistics<kQueries>(task, head, query, statistics + stage * Tiling::kStatistics);
    copy_kept<kThreads, typename Tiling::Kept>(task, head, query, block_key, kept_of(stage));
    commit_copies();
  };

  // Keys that nobody may look at have no gradient; where causal none comes from queries before the block.
  const int begin = block_key >= head.keys ? head.rows : task.causal ? block_key / kQueries * kQueries : 0;
  T* const key_tile = Tiling::kInRegisters ? stages + Tiling::kStage : own;
  const T* const from = tensors.qkv + head.at(block_key, wide) + hidden;
  copy_pair<kRows, kHeadSize>(task, from, from + hidden, wide, wide, head.keys - block_key, key_tile);
  commit_copies();
  if (begin < head.rows) copy_stage(begin, 0);
  wait_for_copies<1>();
  __syncthreads();
  const T* const warp_tile = key_tile + warp_row * tile_stride(kHeadSize);
  KeyRows<T, Tiling> rows{.first = block_key + warp_row,
                          .keys = OwnRows<T, Tiling>(warp_tile),
                          .values = OwnRows<T, Tiling>(warp_tile + Tiling::kOwnTile)};

  for (int query = begin, stage = 0; query < head.rows; query += kQueries, stage ^= 1) {
    wait_for_copies<0>();
    __syncthreads();  // all threads' copies of this stage are done, and nobody reads the other one any more
    if (query + kQueries < head.rows) copy_stage(query + kQueries, stage ^ 1);
#pragma unroll
    for (int chunk = 0; chunk < kQueries; chunk += kChunk) {
      if (task.causal && query + chunk + kChunk - 1 < rows.first) continue;
      const T* const queries = stages + stage * Tiling::kStage + chunk * tile_stride(kHeadSize);
      add_queries(task, query + chunk, queries, queries + Tiling::kTile,
                  statistics + stage * Tiling::kStatistics + chunk,
                  kept_of(stage) + warp_row / kStripKeys * kQueries + chunk, rows);
    }
  }
  wait_for_copies<0>();
  __syncthreads();  // the tiles are free
  store_key_gradients(task, head, rows.first, rows.dkeys[0], rows.dvalues[0],
                      own + warp_row * tile_stride(kHeadSize),
                      reinterpret_cast<float*>(own + Tiling::kOwnTile), tensors.dqkv);
}

}  // namespace

void tiled_attention_backward_keys(Context& context, const AttentionTask& task, std::int64_t sequences,
                                   ConstTensorView dout, ConstTensorView out, ConstTensorView qkv,
                                   TensorView dqkv) {
  with_tiled_head(qkv.dtype, task.head_size, [&]<class T, int kHeadSize>(TiledHead<T, kHeadSize>) {
    const Tensors<T> tensors{elements<T>(dout), elements<T>(out), elements<T>(qkv), elements<T>(dqkv)};
    using Tiling = KeyTiling<kHeadSize>;
    launch_attention(context, "attention_backward_keys", key_kernel<T, Tiling>, task, sequences, kRows,
                     kThreads, Tiling::kSharedBytes, tensors);
  });
}

}  // namespace podium::ops::cuda
