// What the cross-entropy kernels do with one row of logits [classes], which a block takes from memory once
// and from cache from then on.
#pragma once

#include "worker/ops/cuda/reduce.cuh"

namespace podium::ops::cuda {

inline constexpr int kRowWarps = 8;
inline constexpr unsigned kRowThreads = 32 * kRowWarps;
inline constexpr std::int64_t kRowStep = std::int64_t{kRowThreads} * kVector;

// Rows of logits, of whose columns the first `classes` count.
struct RowWidth {
  std::int64_t classes, columns;
};

template <class T>
__device__ __forceinline__ float highest_logit(const T* x, const RowWidth& width) {
  float highest = Max::kIdentity;
  for (std::int64_t column = threadIdx.x * kVector; column < width.classes; column += kRowStep) {
    float values[kVector];
    load(x, column, width.columns, values);
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      if (column + i < width.classes) highest = Max{}(highest, values[i]);
  }
  return reduce_block<kRowWarps>(highest, Max{});
}

struct RowStatistics {
  float highest, sum;  // of exp(x - highest)
};

// Both found together (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018).
template <class T>
__device__ __forceinline__ RowStatistics row_statistics(const T* x, const RowWidth& width) {
  float highest = Max::kIdentity, sum = 0.0F;
  for (std::int64_t column = threadIdx.x * kVector; column < width.classes; column += kRowStep) {
    float values[kVector];
    load(x, column, width.columns, values);
    float highest_here = highest;
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      if (column + i < width.classes) highest_here = Max{}(highest_here, values[i]);
    sum *= __expf(highest - highest_here);
    highest = highest_here;
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      if (column + i < width.classes) sum += __expf(values[i] - highest);
  }
  const float of_row = reduce_block<kRowWarps>(highest, Max{});
  return {of_row, reduce_block<kRowWarps>(sum * __expf(highest - of_row), Sum{})};
}

// x = scale * (exp(x - highest) / sum - onehot(label)); the label may lie outside of these classes. Rows that
// do not count become zero, and so do columns beyond the classes.
template <class T>
__device__ __forceinline__ void write_gradient(T* x, const RowWidth& width, const RowStatistics& row,
                                               float scale, std::int64_t label, bool counts) {
  const float factor = scale / row.sum;
  for (std::int64_t column = threadIdx.x * kVector; column < width.columns; column += kRowStep) {
    float values[kVector];
    load(x, column, width.columns, values);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      values[i] = counts && column + i < width.classes ? __expf(values[i] - row.highest) * factor : 0.0F;
      if (counts && column + i == label) values[i] -= scale;
    }
    store(x, column, width.columns, values);
  }
}

}  // namespace podium::ops::cuda
