// What attention's kernels are told, and where a block's head lies. Grids have a block for (part of a
// sequence, head, sequence); qkv and its gradient are [rows, 3 * hidden], out and its gradient [rows,
// hidden].
//
// Scores and their statistics are kept to base 2, so that a probability is 2^(score * scale_log2 -
// statistic), one multiply-add and one instruction.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace podium::ops::cuda {

inline constexpr int kStripKeys = 16;  // keys of one word of `kept`
inline constexpr int kPaddedTo = 128;  // `kept` has rows and keys up to a multiple of it

struct AttentionTask {
  const std::int32_t* valid_lengths;  // or null
  const std::int32_t* row_begins;     // or null
  std::uint16_t* kept;                // [sequences * heads, padded / 16, padded]; null: nothing is dropped
  float* statistics;                  // [sequences, heads, length]: log2 of the sum of 2^(score * scale_log2)
  float* deltas;                      // [sequences, heads, length], in backward: dot(dout, out)
  float* partial_sums;  // [row blocks, 3 * hidden], in tiled backward: a block's column sums of dqkv; or null
  int length, padded, heads, head_size;
  bool causal;
  float scale;  // 1 / sqrt(head_size)
  float scale_log2;
  float keep_scale;  // of what dropout keeps

  __host__ __device__ int hidden() const { return heads * head_size; }
};

// One head of one sequence.
struct AttentionHead {
  std::int64_t index;      // of sequences * heads
  std::int64_t first_row;  // of the tensors
  std::int64_t column;     // its first of `hidden`
  int rows;                // all are queries
  int keys;                // of them, that may be looked at

  // Of its row `row` in a tensor whose rows have `stride` elements.
  __device__ std::int64_t at(int row, int stride) const { return (first_row + row) * stride + column; }
};

__device__ __forceinline__ AttentionHead head_of_block(const AttentionTask& task) {
  const unsigned sequence = blockIdx.z, head = blockIdx.y;
  AttentionHead place{std::int64_t{sequence} * task.heads + head, std::int64_t{sequence} * task.length,
                      std::int64_t{head} * task.head_size, task.length, task.length};
  if (task.row_begins != nullptr) {
    place.first_row = task.row_begins[sequence];
    place.rows = place.keys = task.row_begins[sequence + 1] - task.row_begins[sequence];
  }
  if (task.valid_lengths != nullptr) place.keys = task.valid_lengths[sequence];
  return place;
}

// The head's words of `kept`, [padded / 16, padded]: bit i of word (strip, query) says whether key
// 16 * strip + i is kept for the query. attention.cu bounds the length, so that an int counts them.
__device__ __forceinline__ const std::uint16_t* kept_words(const AttentionTask& task,
                                                           const AttentionHead& head) {
  return task.kept + head.index * (std::int64_t{task.padded} / kStripKeys * task.padded);
}

}  // namespace podium::ops::cuda
