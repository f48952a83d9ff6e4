// dK and dV of attention on tensor cores: a block of keys, over the queries; formulas in
// attention_backward_queries.cu, which computes the deltas first. P^T and dP^T are computed, so that their
// fragments are left operands as they are.
#include "worker/ops/cuda/attention_backward.cuh"
#include "worker/ops/cuda/attention_kept.cuh"

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

// Rows of keys that nobody may look at become 0. `tile` is the warp's own, `warp_sums` as
// store_partial_sums() has it, for the keys and behind them for the values.
template <class T, class Tiling>
__device__ __forceinline__ void store_gradients(const AttentionTask& task, const AttentionHead& head,
                                                const KeyRows<T, Tiling>& rows, T* tile, float* warp_sums,
                                                T* dqkv) {
  const int hidden = task.hidden(), wide = 3 * hidden;
  float key_factors[2], value_factors[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool seen = rows.first + fragment_row() + 8 * half < head.keys;
    key_factors[half] = seen ? task.scale : 0.0F;
    value_factors[half] = seen ? task.keep_scale : 0.0F;
  }
  T* const to = dqkv + head.at(rows.first, wide) + hidden;
  const int count = head.rows - rows.first;
  store_rows<T>(rows.dkeys[0], key_factors, tile, to, wide, count, task.head_size);
  store_rows<T>(rows.dvalues[0], value_factors, tile, to + hidden, wide, count, task.head_size);
  store_partial_sums(task, head, Part::keys, rows.dkeys[0], key_factors, warp_sums);
  store_partial_sums(task, head, Part::values, rows.dvalues[0], value_factors,
                     warp_sums + kWarps * Tiling::kHeadSize);
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
  copy_stage(begin, 0);
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
  store_gradients(task, head, rows, own + warp_row * tile_stride(kHeadSize),
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
