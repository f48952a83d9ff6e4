#include "worker/train/optimizer_kernels.h"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PODIUM_VECTORISED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PODIUM_VECTORISED
#endif

namespace podium {
namespace {

constexpr std::size_t kLanes = 16;    // partial sums, whatever the vector width
constexpr std::size_t kBlock = 2048;  // elements that stay in the first-level cache between two loops

PODIUM_VECTORISED void find_direction(const Rates& r, float decay, const float* __restrict w,
                                      float* __restrict g, float* __restrict m, float* __restrict v,
                                      std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = g[i] * r.gradient_scale;
    m[i] = r.beta1 * m[i] + r.rest1 * gradient;
    v[i] = r.beta2 * v[i] + r.rest2 * (gradient * gradient);
    g[i] = m[i] * r.correction1 / (std::sqrt(v[i]) * r.correction2 + r.epsilon) + decay * w[i];
  }
}

PODIUM_VECTORISED void take_adamw(const Rates& r, float decay, float* __restrict w, float* __restrict g,
                                  float* __restrict m, float* __restrict v, std::size_t count) {
  const float keep = 1 - r.learning_rate * decay;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = g[i] * r.gradient_scale;
    m[i] = r.beta1 * m[i] + r.rest1 * gradient;
    v[i] = r.beta2 * v[i] + r.rest2 * (gradient * gradient);
    const float ratio = m[i] * r.correction1 / (std::sqrt(v[i]) * r.correction2 + r.epsilon);
    w[i] = keep * w[i] - r.learning_rate * ratio;
    g[i] = 0;
  }
}

PODIUM_VECTORISED void take_lamb(float scale, float* __restrict w, float* __restrict u, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    w[i] -= scale * u[i];
    u[i] = 0;
  }
}

float decay_of(const OptimizerChunk& chunk, const Rates& rates) {
  return chunk.decay != 0 ? rates.weight_decay : 0;
}
std::size_t count_of(const OptimizerChunk& chunk) { return static_cast<std::size_t>(chunk.count); }

}  // namespace

Rates rates_of(const OptimizerSpec& spec, std::int64_t step, double learning_rate, double gradient_scale) {
  const auto n = static_cast<double>(step);
  const auto f = [](double value) { return static_cast<float>(value); };
  return {f(spec.beta1),
          f(spec.beta2),
          f(1 - spec.beta1),
          f(1 - spec.beta2),
          f(gradient_scale),
          f(1 / (1 - std::pow(spec.beta1, n))),
          f(1 / std::sqrt(1 - std::pow(spec.beta2, n))),
          f(spec.epsilon),
          f(learning_rate),
          f(spec.weight_decay)};
}

PODIUM_VECTORISED double sum_of_squares(const float* values, std::size_t count) {
  double lanes[kLanes] = {};
  const std::size_t whole = count - count % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = static_cast<double>(values[i + lane]);
      lanes[lane] += value * value;
    }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  for (std::size_t i = whole; i < count; ++i)
    sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return sum;
}

void adamw(const OptimizerShard& shard, const OptimizerChunk& chunk, const Rates& rates) {
  take_adamw(rates, decay_of(chunk, rates), shard.weights + chunk.begin, shard.gradients + chunk.begin,
             shard.states[0] + chunk.states, shard.states[1] + chunk.states, count_of(chunk));
}

Squares lamb_direction(const OptimizerShard& shard, const OptimizerChunk& chunk, const Rates& rates) {
  float* const weights = shard.weights + chunk.begin;
  float* const gradients = shard.gradients + chunk.begin;
  float* const first = shard.states[0] + chunk.states;
  float* const second = shard.states[1] + chunk.states;
  Squares squares;
  for (std::size_t i = 0; i < count_of(chunk); i += kBlock) {
    const std::size_t count = std::min(kBlock, count_of(chunk) - i);
    find_direction(rates, decay_of(chunk, rates), weights + i, gradients + i, first + i, second + i, count);
    squares.weights += sum_of_squares(weights + i, count);
    squares.direction += sum_of_squares(gradients + i, count);
  }
  return squares;
}

void lamb_step(const OptimizerShard& shard, const OptimizerChunk& chunk, float scale) {
  take_lamb(scale, shard.weights + chunk.begin, shard.gradients + chunk.begin, count_of(chunk));
}

}  // namespace podium
