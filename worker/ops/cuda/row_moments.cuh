// Mean and inverse deviation of a row that a team of threads holds in registers, in two passes over them, as
// LayerNorm needs: the sum of squares is that of what is left after the mean is taken away.
#pragma once

#include "worker/ops/cuda/reduce.cuh"
#include "worker/ops/cuda/row_team.cuh"

namespace podium::ops::cuda {

struct RowMoments {
  float mean, inverse_deviation;
};

// `sum`: of this thread's elements of x. All threads of the block get the row's moments.
template <class Team>
__device__ __forceinline__ RowMoments row_moments(const float (&x)[Team::kVectors][kVector], float sum,
                                                  std::int64_t columns, float epsilon) {
  const auto count = static_cast<float>(columns);
  const float mean = reduce_block<Team::kWarps>(sum, Sum{}) / count;
  float squares = 0.0F;
#pragma unroll
  for (int v = 0; v < Team::kVectors; ++v) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      const float centred = Team::column(v) + i < columns ? x[v][i] - mean : 0.0F;
      squares += centred * centred;
    }
  }
  return {mean, rsqrtf(reduce_block<Team::kWarps>(squares, Sum{}) / count + epsilon)};
}

}  // namespace podium::ops::cuda
