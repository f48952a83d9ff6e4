// What dropout keeps of a warp's scores whose rows are queries, in registers: fetched before a product, to be
// there after it.
#pragma once

#include "worker/ops/cuda/attention_task.cuh"
#include "worker/ops/cuda/attention_tile.cuh"

namespace podium::ops::cuda {

template <int kRowTiles, int kTiles>
class KeptScores {
 public:
  static_assert(kTiles % 4 == 0, "a word holds two strips");

  // Of queries from first_query and keys from first_key on; without dropout nothing is fetched.
  __device__ __forceinline__ void fetch(const AttentionTask& task, const AttentionHead& head, int first_query,
                                        int first_key) {
    if (task.kept == nullptr) return;
    const std::uint16_t* const kept =
        kept_words(task, head) + first_key / kStripKeys * task.padded + first_query + fragment_row();
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int word = 0; word < kTiles / 4; ++word) {
          const std::uint16_t* const strip = kept + 2 * word * task.padded + 16 * r + 8 * half;
          words_[r][half][word] =
              (strip[0] | std::uint32_t{strip[task.padded]} << kStripKeys) >> fragment_column();
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

}  // namespace podium::ops::cuda
