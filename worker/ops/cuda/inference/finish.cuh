// What follows the sums of an inference product, for eight neighbouring outputs of a row at a time:
//
//   v = activation(sum * scale + bias) + residual
//   y = v rounded to y's type, or where that has 8 bits: saturate(round to nearest even(v / y_scale))
//
// The residual may lie where y will.
#pragma once

#include <cstring>

#include "worker/ops/cuda/gelu.cuh"
#include "worker/ops/cuda/inference/task.h"
#include "worker/ops/cuda/quantise.cuh"

namespace podium::ops::cuda {

// Scales and bias of eight neighbouring outputs.
struct OutputFactors {
  float scales[kVector], bias[kVector];
};

__device__ __forceinline__ OutputFactors load_factors(const InferenceFinish& task, int column) {
  OutputFactors factors;
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    factors.scales[i] = 1.0F;
    factors.bias[i] = 0.0F;
  }
  if (task.scales != nullptr) load(task.scales, column, task.out, factors.scales);
  if (task.bias != nullptr) load(task.bias, column, task.out, factors.bias);
  return factors;
}

// Eight elements of the residual as they lie in memory, so that many loads are under way before one is used.
struct RawResidual {
  uint4 words[2];
};

__device__ __forceinline__ bool has_raw_residual(const InferenceFinish& task) {
  return task.residual != nullptr && task.out % kVector == 0;
}

__device__ __forceinline__ void load_raw_residual(const InferenceFinish& task, int row, int column,
                                                  RawResidual& raw) {
  if (row >= task.rows || column >= task.out) return;
  const std::int64_t at = std::int64_t{row} * task.out + column;
  if (task.type == DType::f32) {
    const auto* const words = reinterpret_cast<const uint4*>(static_cast<const float*>(task.residual) + at);
    raw.words[0] = words[0];
    raw.words[1] = words[1];
  } else {
    raw.words[0] = *reinterpret_cast<const uint4*>(static_cast<const unsigned short*>(task.residual) + at);
  }
}

template <class T>
__device__ __forceinline__ void add_residual_as(const InferenceFinish& task, const RawResidual& raw, int row,
                                                int column, float (&v)[kVector]) {
  T residual[kVector];
  if (has_raw_residual(task)) {
    memcpy(residual, raw.words, sizeof(residual));
  } else {
    const T* const from = static_cast<const T*>(task.residual) + std::int64_t{row} * task.out;
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      residual[i] = column + i < task.out ? from[column + i] : from_f32<T>(0.0F);
  }
#pragma unroll
  for (int i = 0; i < kVector; ++i) v[i] += to_f32(residual[i]);
}

template <class T>
__device__ __forceinline__ void store_as(const InferenceFinish& task, const RawResidual& raw, int row,
                                         int column, float (&v)[kVector]) {
  T* const y = static_cast<T*>(task.y) + std::int64_t{row} * task.out;
  if constexpr (std::is_same_v<T, std::int8_t> || std::is_same_v<T, Float8E4M3>) {
    store_quantised(y, column, task.out, task.inverse_scale, v);
  } else {
    if (task.residual != nullptr) add_residual_as<T>(task, raw, row, column, v);
    store(y, column, task.out, v);
  }
}

// v begins as the sums.
__device__ __forceinline__ void finish(const InferenceFinish& task, const OutputFactors& factors,
                                       const RawResidual& raw, int row, int column, float (&v)[kVector]) {
  if (row >= task.rows || column >= task.out) return;
#pragma unroll
  for (int i = 0; i < kVector; ++i) v[i] = v[i] * factors.scales[i] + factors.bias[i];
  if (task.activation == Activation::gelu) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) v[i] = gelu<GeluKind::erf>(v[i]).value;
  } else if (task.activation == Activation::gelu_tanh) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) v[i] = gelu<GeluKind::tanh>(v[i]).value;
  }
  switch (task.type) {
    case DType::f32:
      return store_as<float>(task, raw, row, column, v);
    case DType::bf16:
      return store_as<__nv_bfloat16>(task, raw, row, column, v);
    case DType::f16:
      return store_as<__half>(task, raw, row, column, v);
    case DType::i8:
      return store_as<std::int8_t>(task, raw, row, column, v);
    default:
      return store_as<Float8E4M3>(task, raw, row, column, v);
  }
}

}  // namespace podium::ops::cuda
