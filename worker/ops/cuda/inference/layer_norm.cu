// y = (x - mean) * inverse_deviation * gamma + beta over the rows of x [rows, columns], and where wanted the
// same in 8 bits: one read and one write of each, a block a row, the row in registers in between. At a
// sequence's 128 rows this is a matter of latency: all of a row's loads are under way at once, and mean and
// variance take one barrier each. The kernel starts while the one before it ends (dependent_launch.cuh).
#include "worker/ops/cuda/inference/dependent_launch.cuh"
#include "worker/ops/cuda/inference/launch_dependent.h"
#include "worker/ops/cuda/quantise.cuh"
#include "worker/ops/cuda/row_moments.cuh"
#include "worker/ops/cuda/row_team.cuh"
#include "worker/ops/inference_layer_norm.h"

namespace podium::ops::cuda {
namespace {

template <class T, class Q>
struct Rows {
  const T* x;
  T* y;
  Q* copy;  // or null
  float inverse_scale;
  const float* gamma;
  const float* beta;
  float epsilon;
  std::int64_t columns;
};

template <class T, class Q, class Team>
__global__ void __launch_bounds__(Team::kThreads) inference_layer_norm_kernel(Rows<T, Q> p) {
  const std::int64_t begin = blockIdx.x * p.columns;
  float x[Team::kVectors][kVector], gamma[Team::kVectors][kVector], beta[Team::kVectors][kVector];
  let_next_start();
#pragma unroll
  for (int v = 0; v < Team::kVectors; ++v) {
    load(p.gamma, Team::column(v), p.columns, gamma[v]);
    load(p.beta, Team::column(v), p.columns, beta[v]);
  }
  wait_for_previous();
  float sum = 0.0F;
#pragma unroll
  for (int v = 0; v < Team::kVectors; ++v) {
    load(p.x + begin, Team::column(v), p.columns, x[v]);
#pragma unroll
    for (int i = 0; i < kVector; ++i) sum += x[v][i];
  }
  const auto [mean, inverse] = row_moments<Team>(x, sum, p.columns, p.epsilon);
#pragma unroll
  for (int v = 0; v < Team::kVectors; ++v) {
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      x[v][i] = to_f32(from_f32<T>((x[v][i] - mean) * inverse * gamma[v][i] + beta[v][i]));
    store(p.y + begin, Team::column(v), p.columns, x[v]);
    if (p.copy != nullptr) store_quantised(p.copy + begin, Team::column(v), p.columns, p.inverse_scale, x[v]);
  }
}

template <class T, class Q>
void launch_rows(Context& context, ConstTensorView x, const LayerNormParameters& parameters, TensorView y,
                 const QuantisedCopy& copy) {
  const Rows<T, Q> p{elements<T>(x),
                     elements<T>(y),
                     elements<Q>(copy.values),
                     1.0F / copy.scale,
                     elements<float>(parameters.gamma),
                     elements<float>(parameters.beta),
                     parameters.epsilon,
                     x.shape[1]};
  with_row_team(p.columns, [&]<class Team>(Team) {
    launch_dependent(context, cuda_state(context).overlaps_launches(), "inference_layer_norm",
                     inference_layer_norm_kernel<T, Q, Team>, static_cast<unsigned>(x.shape[0]),
                     Team::kThreads, 0, p);
  });
}

}  // namespace

void inference_layer_norm(Context& context, ConstTensorView x, const LayerNormParameters& parameters,
                          TensorView y, const QuantisedCopy& copy) {
  if (x.size() == 0) return;
  with_quantised_type(copy.wanted() ? copy.values.dtype : DType::i8, [&]<class Q>(Type<Q>) {
    with_device_type(x.dtype, [&]<class T>(Type<T>) { launch_rows<T, Q>(context, x, parameters, y, copy); });
  });
}

}  // namespace podium::ops::cuda
