// Bias-free LayerNorm sub-layers, formulas in worker/ops/layer_norm.h: one pass over the rows of x
// [rows, columns] each way. Forward's blocks take a row each. Those of backward take rows in turn, keep one
// in registers while the next is under way, and leave one row of partial sums for gamma, beta and the
// branch's bias, which a second kernel adds up.
#include <algorithm>

#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/dropout.cuh"
#include "worker/ops/cuda/partial_sums.h"
#include "worker/ops/cuda/reduce.cuh"
#include "worker/ops/cuda/residual_sum.cuh"
#include "worker/ops/cuda/row_moments.cuh"
#include "worker/ops/cuda/row_team.cuh"
#include "worker/ops/cuda/state.h"
#include "worker/ops/layer_norm.h"

namespace podium::ops::cuda {
namespace {

// Of backward: as many as an H100 or H200 holds at a time of rows of 1024 columns, whatever the device, so
// that sums have the same bits on all.
constexpr std::int64_t kMaxBlocks = 528;

template <class T>
struct Forward {
  const T* x;         // the branch where there is a residual connection
  const T* residual;  // or null
  T* sum;             // residual + dropout(branch)
  T* y;
  float* statistics;  // [rows, 2]
  const float* gamma;
  const float* beta;
  float epsilon;
  std::int64_t rows, columns;
};

template <class T, class Team>
__global__ void __launch_bounds__(Team::kThreads) forward_kernel(Forward<T> p, DropoutParameter parameter) {
  const DeviceDropout dropout = parameter;
  const std::int64_t row = blockIdx.x;
  float x[Team::kVectors][kVector];
  float sum = 0.0F;
#pragma unroll
  for (int v = 0; v < Team::kVectors; ++v) {
    load_sum<T, Team>(p, dropout, row, v, x[v]);
#pragma unroll
    for (int i = 0; i < kVector; ++i) sum += x[v][i];
  }
  const auto [mean, inverse] = row_moments<Team>(x, sum, p.columns, p.epsilon);
#pragma unroll
  for (int v = 0; v < Team::kVectors; ++v) {
    float gamma[kVector], beta[kVector];
    load(p.gamma, Team::column(v), p.columns, gamma);
    load(p.beta, Team::column(v), p.columns, beta);
#pragma unroll
    for (int i = 0; i < kVector; ++i) x[v][i] = (x[v][i] - mean) * inverse * gamma[i] + beta[i];
    store(p.y + row * p.columns, Team::column(v), p.columns, x[v]);
  }
  if (threadIdx.x == 0) {
    p.statistics[2 * row] = mean;
    p.statistics[2 * row + 1] = inverse;
  }
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
  float* partials;  // [blocks, kSums, columns]: of gamma, beta and the branch's bias
  std::int64_t rows, columns;
};
constexpr int kSums = 3;

// What a thread adds up for its columns over its block's rows.
template <class Team>
struct ColumnSums {
  float values[kSums][Team::kVectors][kVector] = {};
};

// dbranch = dropout(dx), with the bits of the stored dx.
template <class T, class Team>
__device__ __forceinline__ void store_branch(const Backward<T>& p, const DeviceDropout& dropout,
                                             std::int64_t row, int v, float (&dx)[kVector],
                                             float (&bias_sums)[kVector]) {
#pragma unroll
  for (int i = 0; i < kVector; ++i) dx[i] = to_f32(from_f32<T>(dx[i]));
  if (dropout.threshold > 0) drop(dropout, kept_columns(dropout, dropout.row(row), Team::group(v)), dx);
  store(p.dbranch + row * p.columns, Team::column(v), p.columns, dx);
#pragma unroll
  for (int i = 0; i < kVector; ++i) bias_sums[i] += dx[i];
}

template <class T, class Team>
__device__ __forceinline__ Raw<T> read_group(const Backward<T>& p, const T* tensor, std::int64_t row, int v) {
  return load_raw(tensor + row * p.columns, Team::column(v), p.columns);
}

// What backward reads of a row; ahead, where a thread has registers for the next row's.
template <class T, class Team>
struct RowInputs {
  static constexpr bool kAhead = Team::kVectors == 1;

  Raw<T> dy[Team::kVectors], x[Team::kVectors];
  Raw<T> dresidual;  // of the only group; others are read when they are wanted
  float mean, inverse;
};

template <class T, class Team>
__device__ __forceinline__ void read_row(const Backward<T>& p, std::int64_t row, RowInputs<T, Team>& inputs) {
  if (row >= p.rows) return;
  inputs.mean = p.statistics[2 * row];
  inputs.inverse = p.statistics[2 * row + 1];
#pragma unroll
  for (int v = 0; v < Team::kVectors; ++v) {
    inputs.dy[v] = read_group<T, Team>(p, p.dy, row, v);
    inputs.x[v] = read_group<T, Team>(p, p.x, row, v);
  }
  if (RowInputs<T, Team>::kAhead && p.dresidual != nullptr)
    inputs.dresidual = read_group<T, Team>(p, p.dresidual, row, 0);
}

// `parity` is that of the row's number among the block's.
template <class T, class Team>
__device__ __forceinline__ void backward_row(const Backward<T>& p, const DeviceDropout& dropout,
                                             std::int64_t row, int parity, const RowInputs<T, Team>& inputs,
                                             ColumnSums<Team>& sums) {
  const float mean = inputs.mean, inverse = inputs.inverse;
  float g[Team::kVectors][kVector];  // dy * gamma
  float x_hat[Team::kVectors][kVector];
  float sum = 0.0F, product = 0.0F;
#pragma unroll
  for (int v = 0; v < Team::kVectors; ++v) {
    float gamma[kVector];
    load(p.gamma, Team::column(v), p.columns, gamma);
    widen(inputs.dy[v], g[v]);
    widen(inputs.x[v], x_hat[v]);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {  // beyond the row's end dy and gamma are 0
      x_hat[v][i] = (x_hat[v][i] - mean) * inverse;
      sums.values[0][v][i] += g[v][i] * x_hat[v][i];
      sums.values[1][v][i] += g[v][i];
      g[v][i] *= gamma[i];
      sum += g[v][i];
      product += g[v][i] * x_hat[v][i];
    }
  }
  add_over_block<Team::kWarps>(sum, product, parity);
  const float mean_g = sum / static_cast<float>(p.columns);
  const float mean_product = product / static_cast<float>(p.columns);
#pragma unroll
  for (int v = 0; v < Team::kVectors; ++v) {
    float dresidual[kVector] = {};
    if (p.dresidual != nullptr)
      widen(RowInputs<T, Team>::kAhead ? inputs.dresidual : read_group<T, Team>(p, p.dresidual, row, v),
            dresidual);
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      g[v][i] = inverse * (g[v][i] - mean_g - x_hat[v][i] * mean_product) + dresidual[i];
    store(p.dx + row * p.columns, Team::column(v), p.columns, g[v]);
    if (p.dbranch != nullptr) store_branch<T, Team>(p, dropout, row, v, g[v], sums.values[2][v]);
  }
}

template <class T, class Team>
__global__ void __launch_bounds__(Team::kThreads) backward_kernel(Backward<T> p, DropoutParameter parameter) {
  constexpr bool kAhead = RowInputs<T, Team>::kAhead;
  const DeviceDropout dropout = parameter;
  ColumnSums<Team> sums;
  RowInputs<T, Team> inputs, next;
  if constexpr (kAhead) read_row(p, blockIdx.x, next);
  int parity = 0;
  for (std::int64_t row = blockIdx.x; row < p.rows; row += gridDim.x, parity ^= 1) {
    if constexpr (kAhead) {
      inputs = next;
      read_row(p, row + gridDim.x, next);
    } else {
      read_row(p, row, inputs);
    }
    backward_row(p, dropout, row, parity, inputs, sums);
  }
#pragma unroll
  for (int s = 0; s < kSums; ++s) {
    float* const partials = p.partials + (std::int64_t{blockIdx.x} * kSums + s) * p.columns;
#pragma unroll
    for (int v = 0; v < Team::kVectors; ++v) store(partials, Team::column(v), p.columns, sums.values[s][v]);
  }
}

template <class T>
void launch_forward(Context& context, const char* name, const Forward<T>& p, const Dropout& dropout) {
  if (p.rows == 0) return;
  with_row_team(p.columns, [&]<class Team>(Team) {
    launch(context, name, forward_kernel<T, Team>, static_cast<unsigned>(p.rows), Team::kThreads, 0, p,
           DropoutParameter(dropout));
  });
}

template <class T>
void launch_backward(Context& context, const char* name, Backward<T> p, const Dropout& dropout,
                     const LayerNormGradients& gradients) {
  if (p.rows == 0) return;
  const auto blocks = static_cast<unsigned>(std::min(p.rows, kMaxBlocks));
  p.partials = static_cast<float*>(
      cuda_state(context).scratch(blocks * static_cast<std::size_t>(kSums * p.columns) * sizeof(float)));
  with_row_team(p.columns, [&]<class Team>(Team) {
    launch(context, name, backward_kernel<T, Team>, blocks, Team::kThreads, 0, p, DropoutParameter(dropout));
  });
  add_partials(context, p.partials, blocks, p.columns, p.columns,
               std::array{elements<float>(gradients.gamma), elements<float>(gradients.beta),
                          elements<float>(gradients.branch_bias)});
}

template <class T>
Backward<T> backward_of(ConstTensorView dy, ConstTensorView x, ConstTensorView statistics,
                        const LayerNormParameters& parameters, TensorView dx, TensorView dbranch,
                        ConstTensorView dresidual) {
  return {elements<T>(dy),
          elements<T>(x),
          elements<float>(statistics),
          elements<float>(parameters.gamma),
          elements<T>(dresidual),
          elements<T>(dx),
          elements<T>(dbranch),
          nullptr,
          x.shape[0],
          x.shape[1]};
}

template <class T>
Forward<T> forward_of(ConstTensorView x, ConstTensorView residual, TensorView sum,
                      const LayerNormParameters& parameters, TensorView y, TensorView statistics) {
  return {elements<T>(x),
          elements<T>(residual),
          elements<T>(sum),
          elements<T>(y),
          elements<float>(statistics),
          elements<float>(parameters.gamma),
          elements<float>(parameters.beta),
          parameters.epsilon,
          x.shape[0],
          x.shape[1]};
}

}  // namespace

void layer_norm_forward(Context& context, ConstTensorView x, const LayerNormParameters& parameters,
                        TensorView y, TensorView statistics) {
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    launch_forward(context, "layer_norm_forward", forward_of<T>(x, {}, {}, parameters, y, statistics), {});
  });
}

void layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView x, ConstTensorView statistics,
                         const LayerNormParameters& parameters, TensorView dx,
                         const LayerNormGradients& gradients, ConstTensorView dresidual) {
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    launch_backward(context, "layer_norm_backward",
                    backward_of<T>(dy, x, statistics, parameters, dx, {}, dresidual), {}, gradients);
  });
}

void add_layer_norm_forward(Context& context, TensorView branch, ConstTensorView residual,
                            const Dropout& dropout, const LayerNormParameters& parameters, TensorView y,
                            TensorView statistics) {
  with_device_type(branch.dtype, [&]<class T>(Type<T>) {
    launch_forward(context, "add_layer_norm_forward",
                   forward_of<T>(branch, residual, branch, parameters, y, statistics), dropout);
  });
}

void add_layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView sum,
                             ConstTensorView statistics, const Dropout& dropout,
                             const LayerNormParameters& parameters, TensorView dsum, TensorView dbranch,
                             const LayerNormGradients& gradients, ConstTensorView dresidual) {
  with_device_type(sum.dtype, [&]<class T>(Type<T>) {
    launch_backward(context, "add_layer_norm_backward",
                    backward_of<T>(dy, sum, statistics, parameters, dsum, dbranch, dresidual), dropout,
                    gradients);
  });
}

}  // namespace podium::ops::cuda
