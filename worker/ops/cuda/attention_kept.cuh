// What dropout keeps of a tile of scores: words of `kept` in shared memory, which arrive with the rows that
// the scores are products of, and in registers, where the rows of a fragment are queries.
#pragma once

#include "worker/ops/cuda/attention_task.cuh"
#include "worker/ops/cuda/attention_tile.cuh"

namespace podium::ops::cuda {

// [strips, queries], as in `kept`.
template <int kQueriesIn, int kKeysIn>
struct KeptTile {
  static constexpr int kQueries = kQueriesIn, kStrips = kKeysIn / kStripKeys;
  static constexpr int kWords = kStrips * kQueries;
};

// All threads of the block start to copy the words of queries from first_query and keys from first_key on,
// both multiples of the tile's; without dropout nothing is copied.
template <int kThreads, class Tile>
__device__ __forceinline__ void copy_kept(const AttentionTask& task, const AttentionHead& head,
                                          int first_query, int first_key, std::uint16_t* tile) {
  if (task.kept == nullptr) return;
  static_assert(kPaddedTo % Tile::kQueries == 0 && kPaddedTo / kStripKeys % Tile::kStrips == 0,
                "a tile that begins within the padded scores ends there");
  constexpr int kChunks = Tile::kQueries / kVector;
  const std::uint16_t* const from =
      kept_words(task, head) + first_key / kStripKeys * task.padded + first_query;
  for (int chunk = static_cast<int>(threadIdx.x); chunk < Tile::kStrips * kChunks; chunk += kThreads) {
    const int strip = chunk / kChunks, query = chunk % kChunks * kVector;
    copy_async<16>(tile + strip * Tile::kQueries + query, from + strip * task.padded + query, true);
  }
}

// Of a warp's fragments of scores, kTiles of 8 keys for each 16 queries.
template <int kRowTiles, int kTiles>
class KeptScores {
 public:
  static_assert(kTiles % 4 == 0, "a word holds two strips");

  // `words` are those of the warp's first query in the tile's strip of its first key.
  template <class Tile>
  __device__ __forceinline__ void load(const std::uint16_t* words, Tile) {
    words += fragment_row();
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int word = 0; word < kTiles / 4; ++word) {
          const std::uint16_t* const strip = words + 2 * word * Tile::kQueries + 16 * r + 8 * half;
          words_[r][half][word] =
              (strip[0] | std::uint32_t{strip[Tile::kQueries]} << kStripKeys) >> fragment_column();
        }
      }
    }
  }

  // Whether element e of score fragment (r, tile) is kept.
  __device__ __forceinline__ bool has(int r, int tile, int e) const {
    return (words_[r][e / 2][tile / 4] >> (tile % 4 * 8 + e % 2) & 1U) != 0;
  }

 private:
  std::uint32_t words_[kRowTiles][2][kTiles / 4];
};

// What dropout takes becomes 0; what it keeps is not scaled.
template <int kRowTiles, int kTiles>
__device__ __forceinline__ void drop(const KeptScores<kRowTiles, kTiles>& kept,
                                     MmaSums (&values)[kRowTiles][kTiles]) {
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int e = 0; e < 4; ++e)
        if (!kept.has(r, t, e)) values[r][t].values[e] = 0.0F;
    }
  }
}

}  // namespace podium::ops::cuda
