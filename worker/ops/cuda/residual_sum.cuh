// The row that a norm takes behind a residual connection, residual + dropout(branch), for the kernels of
// layer_norm.cu and rms_norm.cu.
#pragma once

#include "worker/ops/cuda/dropout.cuh"
#include "worker/ops/cuda/vector.cuh"

namespace podium::ops::cuda {

// What a thread holds of row `row` as it is stored: rounded to T. `p` has x, which is the branch where
// `residual` is not null; then the sum is written to `sum`.
template <class T, class Team, class Forward>
__device__ __forceinline__ void load_sum(const Forward& p, const DeviceDropout& dropout, std::int64_t row,
                                         int v, float (&x)[kVector]) {
  const std::int64_t begin = row * p.columns, column = Team::column(v);
  load(p.x + begin, column, p.columns, x);
  if (p.residual == nullptr) return;
  if (dropout.threshold > 0) drop(dropout, kept_columns(dropout, dropout.row(row), Team::group(v)), x);
  float residual[kVector];
  load(p.residual + begin, column, p.columns, residual);
#pragma unroll
  for (int i = 0; i < kVector; ++i) x[i] = to_f32(from_f32<T>(residual[i] + x[i]));
  store(p.sum + begin, column, p.columns, x);
}

}  // namespace podium::ops::cuda
