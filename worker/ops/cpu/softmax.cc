#include "worker/ops/cpu/softmax.h"

#include <algorithm>

#include "worker/ops/cpu/vector_math.h"

namespace podium::ops::cpu {
namespace {

template <class T>
PODIUM_SIMD_CLONES void softmax_row(float* scores, std::int64_t valid, std::int64_t length, float scale,
                                    const std::uint16_t* draws, std::uint32_t threshold, T* probabilities) {
  float highest = scores[0];
#pragma omp simd reduction(max : highest)
  for (std::int64_t j = 0; j < valid; ++j) highest = scores[j] > highest ? scores[j] : highest;
  float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < valid; ++j) {
    const float e = fast_exp((scores[j] - highest) * scale);
    scores[j] = e;
    sum += e;
  }
  const float inverse = 1.0F / sum;
#pragma omp simd
  for (std::int64_t j = 0; j < valid; ++j) {
    const float p = scores[j] * inverse;
    probabilities[j] = from_float<T>(draws[j] >= threshold ? p : -p);
  }
#pragma omp simd
  for (std::int64_t j = valid; j < length; ++j) probabilities[j] = T{};
}

template <class T>
PODIUM_SIMD_CLONES void backward_row(const T* probabilities, const float* dp, std::int64_t length,
                                     float keep_scale, float scale, T* dscores) {
  float dot = 0.0F;
#pragma omp simd reduction(+ : dot)
  for (std::int64_t j = 0; j < length; ++j) {
    const float p = to_float(probabilities[j]);
    dot += (p > 0.0F ? p : 0.0F) * dp[j];
  }
  dot *= keep_scale;
#pragma omp simd
  for (std::int64_t j = 0; j < length; ++j) {
    const float p = to_float(probabilities[j]);
    const float magnitude = p > 0.0F ? p : -p;
    const float kept = p > 0.0F ? dp[j] * keep_scale : 0.0F;
    dscores[j] = from_float<T>(magnitude * (kept - dot) * scale);
  }
}

template <class T>
PODIUM_SIMD_CLONES void keep_positive(const T* probabilities, std::int64_t count, float scale, T* y) {
#pragma omp simd
  for (std::int64_t j = 0; j < count; ++j) {
    const float p = to_float(probabilities[j]);
    y[j] = from_float<T>(p > 0.0F ? p * scale : 0.0F);
  }
}

}  // namespace

template <class T>
void softmax_rows(const SoftmaxTask& task, const Dropout& dropout, std::uint16_t* draws, float* scores,
                  T* probabilities) {
  for (std::int64_t i = 0; i < task.rows; ++i) {
    const std::int64_t visible = task.visible(i);
    if (dropout.active()) {
      const std::int64_t blocks = (visible + kDrawBlock - 1) / kDrawBlock;
      draw(dropout, task.first_dropout_row + static_cast<std::uint64_t>(i), 0, blocks, draws);
    }
    softmax_row(scores + i * task.keys, visible, task.keys, task.scale, draws, dropout.threshold,
                probabilities + i * task.keys);
  }
  std::fill(probabilities + task.rows * task.keys, probabilities + task.padded_rows * task.keys, T{});
}

template <class T>
void apply_dropout_sign(const T* probabilities, std::int64_t count, float scale, T* y) {
  keep_positive(probabilities, count, scale, y);
}

template <class T>
void softmax_rows_backward(const SoftmaxTask& task, const Dropout& dropout, const T* probabilities,
                           const float* dp, T* dscores) {
  for (std::int64_t i = 0; i < task.padded_rows; ++i) {
    const std::int64_t at = i * task.keys;
    backward_row(probabilities + at, dp + at, task.keys, dropout.scale, task.scale, dscores + at);
  }
}

#define PODIUM_INSTANTIATE(T)                                                                 \
  template void softmax_rows(const SoftmaxTask&, const Dropout&, std::uint16_t*, float*, T*); \
  template void apply_dropout_sign(const T*, std::int64_t, float, T*);                        \
  template void softmax_rows_backward(const SoftmaxTask&, const Dropout&, const T*, const float*, T*);
PODIUM_INSTANTIATE(float)
PODIUM_INSTANTIATE(BFloat16)
PODIUM_INSTANTIATE(Float16)
#undef PODIUM_INSTANTIATE

}  // namespace podium::ops::cpu
