// RMSNorm, formulas in worker/ops/rms_norm.h: one pass over the rows of x [rows, columns] each way. Forward's
// blocks take a row each. Those of backward take rows in turn and leave one row of partial sums for gamma,
// which a second kernel adds up in a fixed order.
#include <algorithm>

#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/dropout.cuh"
#include "worker/ops/cuda/partial_sums.h"
#include "worker/ops/cuda/reduce.cuh"
#include "worker/ops/cuda/residual_sum.cuh"
#include "worker/ops/cuda/row_team.cuh"
#include "worker/ops/cuda/state.h"
#include "worker/ops/rms_norm.h"

namespace podium::ops::cuda {
namespace {

constexpr std::int64_t kMaxBlocks =
    640;  // of backward, on any device, so that sums have the same bits on all

template <class T>
struct Forward {
  const T* x;         // the branch where there is a residual connection
  const T* residual;  // or null
  T* sum;             // residual + dropout(branch)
  T* y;
  float* statistics;  // [rows]
  const float* gamma;
  float epsilon;
  std::int64_t columns;
};

template <class T, class Team>
__global__ void __launch_bounds__(Team::kThreads) forward_kernel(Forward<T> p, DropoutParameter parameter) {
  const DeviceDropout dropout = parameter;
  const std::int64_t row = blockIdx.x;
  float x[Team::kVectors][kVector];
  float squares = 0.0F;
#pragma unroll
  for (int v = 0; v < Team::kVectors; ++v) {
    load_sum<T, Team>(p, dropout, row, v, x[v]);
#pragma unroll
    for (int i = 0; i < kVector; ++i) squares += x[v][i] * x[v][i];
  }
  const float mean = reduce_block<Team::kWarps>(squares, Sum{}) / static_cast<float>(p.columns);
  const float inverse = rsqrtf(mean + p.epsilon);
#pragma unroll
  for (int v = 0; v < Team::kVectors; ++v) {
    float gamma[kVector];
    load(p.gamma, Team::column(v), p.columns, gamma);
#pragma unroll
    for (int i = 0; i < kVector; ++i) x[v][i] *= inverse * gamma[i];
    store(p.y + row * p.columns, Team::column(v), p.columns, x[v]);
  }
  if (threadIdx.x == 0) p.statistics[row] = inverse;
}

template <class T>
struct Backward {
  const T* dy;
  const T* x;
  const float* statistics;
  const float* gamma;
  const T* dresidual;  // or null
  T* dx;
  T* dbranch;       // or null
  float* partials;  // [blocks, columns], of gamma
  std::int64_t rows, columns;
};

// dbranch = dropout(dx), with the bits of the stored dx.
template <class T, class Team>
__device__ __forceinline__ void store_branch(const Backward<T>& p, const DeviceDropout& dropout,
                                             std::int64_t row, int v, float (&dx)[kVector]) {
#pragma unroll
  for (int i = 0; i < kVector; ++i) dx[i] = to_f32(from_f32<T>(dx[i]));
  if (dropout.threshold > 0) drop(dropout, kept_columns(dropout, dropout.row(row), Team::group(v)), dx);
  store(p.dbranch + row * p.columns, Team::column(v), p.columns, dx);
}

template <class T, class Team>
__device__ __forceinline__ void backward_row(const Backward<T>& p, const DeviceDropout& dropout,
                                             std::int64_t row, float (&sums)[Team::kVectors][kVector]) {
  const std::int64_t begin = row * p.columns;
  const float inverse = p.statistics[row];
  float g[Team::kVectors][kVector], x_hat[Team::kVectors][kVector];
  float product = 0.0F;
#pragma unroll
  for (int v = 0; v < Team::kVectors; ++v) {
    float gamma[kVector];
    load(p.dy + begin, Team::column(v), p.columns, g[v]);
    load(p.x + begin, Team::column(v), p.columns, x_hat[v]);
    load(p.gamma, Team::column(v), p.columns, gamma);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {  // beyond the row's end all are 0
      x_hat[v][i] *= inverse;
      sums[v][i] += g[v][i] * x_hat[v][i];
      g[v][i] *= gamma[i];
      product += g[v][i] * x_hat[v][i];
    }
  }
  const float mean = reduce_block<Team::kWarps>(product, Sum{}) / static_cast<float>(p.columns);
#pragma unroll
  for (int v = 0; v < Team::kVectors; ++v) {
    float dresidual[kVector] = {};
    if (p.dresidual != nullptr) load(p.dresidual + begin, Team::column(v), p.columns, dresidual);
#pragma unroll
    for (int i = 0; i < kVector; ++i) g[v][i] = inverse * (g[v][i] - x_hat[v][i] * mean) + dresidual[i];
    store(p.dx + begin, Team::column(v), p.columns, g[v]);
    if (p.dbranch != nullptr) store_branch<T, Team>(p, dropout, row, v, g[v]);
  }
}

template <class T, class Team>
__global__ void __launch_bounds__(Team::kThreads) backward_kernel(Backward<T> p, DropoutParameter parameter) {
  const DeviceDropout dropout = parameter;
  float sums[Team::kVectors][kVector] = {};
  for (std::int64_t row = blockIdx.x; row < p.rows; row += gridDim.x)
    backward_row<T, Team>(p, dropout, row, sums);
  float* const partials = p.partials + std::int64_t{blockIdx.x} * p.columns;
#pragma unroll
  for (int v = 0; v < Team::kVectors; ++v) store(partials, Team::column(v), p.columns, sums[v]);
}

void launch_forward(Context& context, const char* name, ConstTensorView x, ConstTensorView residual,
                    TensorView sum, const Dropout& dropout, const RmsNormParameters& parameters, TensorView y,
                    TensorView statistics) {
  if (x.size() == 0) return;
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    const Forward<T> p{elements<T>(x),
                       elements<T>(residual),
                       elements<T>(sum),
                       elements<T>(y),
                       elements<float>(statistics),
                       elements<float>(parameters.gamma),
                       parameters.epsilon,
                       x.shape[1]};
    with_row_team(p.columns, [&]<class Team>(Team) {
      launch(context, name, forward_kernel<T, Team>, static_cast<unsigned>(x.shape[0]), Team::kThreads, 0, p,
             DropoutParameter(dropout));
    });
  });
}

void launch_backward(Context& context, const char* name, ConstTensorView dy, ConstTensorView x,
                     ConstTensorView statistics, const Dropout& dropout, const RmsNormParameters& parameters,
                     TensorView dx, TensorView dbranch, TensorView dgamma, ConstTensorView dresidual) {
  if (x.size() == 0) return;
  const auto blocks = static_cast<unsigned>(std::min(x.shape[0], kMaxBlocks));
  auto* const partials = static_cast<float*>(
      cuda_state(context).scratch(blocks * static_cast<std::size_t>(x.shape[1]) * sizeof(float)));
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    const Backward<T> p{elements<T>(dy),
                        elements<T>(x),
                        elements<float>(statistics),
                        elements<float>(parameters.gamma),
                        elements<T>(dresidual),
                        elements<T>(dx),
                        elements<T>(dbranch),
                        partials,
                        x.shape[0],
                        x.shape[1]};
    with_row_team(p.columns, [&]<class Team>(Team) {
      launch(context, name, backward_kernel<T, Team>, blocks, Team::kThreads, 0, p,
             DropoutParameter(dropout));
    });
  });
  add_partials(context, partials, blocks, x.shape[1], x.shape[1], std::array{elements<float>(dgamma)});
}

}  // namespace

void rms_norm_forward(Context& context, ConstTensorView x, const RmsNormParameters& parameters, TensorView y,
                      TensorView statistics) {
  launch_forward(context, "rms_norm_forward", x, {}, {}, {}, parameters, y, statistics);
}

void rms_norm_backward(Context& context, ConstTensorView dy, ConstTensorView x, ConstTensorView statistics,
                       const RmsNormParameters& parameters, TensorView dx, TensorView dgamma,
                       ConstTensorView dresidual) {
  launch_backward(context, "rms_norm_backward", dy, x, statistics, {}, parameters, dx, {}, dgamma, dresidual);
}

void add_rms_norm_forward(Context& context, TensorView branch, ConstTensorView residual,
                          const Dropout& dropout, const RmsNormParameters& parameters, TensorView y,
                          TensorView statistics) {
  launch_forward(context, "add_rms_norm_forward", branch, residual, branch, dropout, parameters, y,
                 statistics);
}

void add_rms_norm_backward(Context& context, ConstTensorView dy, ConstTensorView sum,
                           ConstTensorView statistics, const Dropout& dropout,
                           const RmsNormParameters& parameters, TensorView dsum, TensorView dbranch,
                           TensorView dgamma, ConstTensorView dresidual) {
  launch_backward(context, "add_rms_norm_backward", dy, sum, statistics, dropout, parameters, dsum, dbranch,
                  dgamma, dresidual);
}

}  // namespace podium::ops::cuda
