#include "worker/train/optimizer.h"

#include <algorithm>
#include <cmath>

// Built for several instruction sets, chosen at run time; contraction is off (CMakeLists.txt), so all agree
// to the bit.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PODIUM_VECTORISED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PODIUM_VECTORISED
#endif

namespace podium {
namespace {

constexpr std::size_t kChunk = 1 << 15;
constexpr std::size_t kLanes = 16;  // partial sums, whatever the vector width

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

// What one element's update needs; bias corrections as in Kingma and Ba (2015).
struct Rates {
  float beta1, beta2, rest1, rest2;
  float gradient_scale;
  float correction1, correction2;  // 1 / (1 - beta^step), the second as a square root
  float epsilon;
  float learning_rate;
  float weight_decay;
};

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

// AdamW (Loshchilov and Hutter, 2019): w -= lr (m^ / (sqrt(v^) + eps) + decay w).
PODIUM_VECTORISED void adamw(const Rates& r, float decay, float* __restrict w, const float* __restrict g,
                             float* __restrict m, float* __restrict v, std::size_t count) {
  const float keep = 1 - r.learning_rate * decay;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = g[i] * r.gradient_scale;
    m[i] = r.beta1 * m[i] + r.rest1 * gradient;
    v[i] = r.beta2 * v[i] + r.rest2 * (gradient * gradient);
    const float ratio = m[i] * r.correction1 / (std::sqrt(v[i]) * r.correction2 + r.epsilon);
    w[i] = keep * w[i] - r.learning_rate * ratio;
  }
}

// The direction LAMB takes, in place of the gradient: u = m^ / (sqrt(v^) + eps) + decay w.
PODIUM_VECTORISED void lamb_direction(const Rates& r, float decay, const float* __restrict w,
                                      float* __restrict g, float* __restrict m, float* __restrict v,
                                      std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = g[i] * r.gradient_scale;
    m[i] = r.beta1 * m[i] + r.rest1 * gradient;
    v[i] = r.beta2 * v[i] + r.rest2 * (gradient * gradient);
    g[i] = m[i] * r.correction1 / (std::sqrt(v[i]) * r.correction2 + r.epsilon) + decay * w[i];
  }
}

PODIUM_VECTORISED void subtract_scaled(float scale, float* __restrict w, const float* __restrict u,
                                       std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) w[i] -= scale * u[i];
}

class AdamW final : public Optimizer {
 public:
  AdamW(const OptimizerSpec& spec, ParameterStore& parameters, int threads)
      : Optimizer(spec, parameters, threads) {}

  void update(ParameterStore& parameters, std::int64_t step, double learning_rate,
              double gradient_scale) override {
    const Rates rates = rates_of(spec_, step, learning_rate, gradient_scale);
    float* const weights = parameters.weights().data();
    const float* const gradients = parameters.gradients().data();
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      const auto [parameter, begin, end, decay] = chunks_[c];
      adamw(rates, decay ? rates.weight_decay : 0, weights + begin, gradients + begin, first_.data() + begin,
            second_.data() + begin, end - begin);
    }
    parameters.weights_changed();
  }
};

// LAMB (You et al., 2020) as in NVIDIA's recipe: each decayed parameter moves by lr |w| / |u|, the others by
// lr.
class Lamb final : public Optimizer {
 public:
  Lamb(const OptimizerSpec& spec, ParameterStore& parameters, int threads)
      : Optimizer(spec, parameters, threads), squares_(chunks_.size()), trust_(parameters.list().size()) {}

  void update(ParameterStore& parameters, std::int64_t step, double learning_rate,
              double gradient_scale) override {
    const Rates rates = rates_of(spec_, step, learning_rate, gradient_scale);
    float* const weights = parameters.weights().data();
    float* const directions = parameters.gradients().data();
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      const auto [parameter, begin, end, decay] = chunks_[c];
      lamb_direction(rates, decay ? rates.weight_decay : 0, weights + begin, directions + begin,
                     first_.data() + begin, second_.data() + begin, end - begin);
      squares_[c] = {sum_of_squares(weights + begin, end - begin),
                     sum_of_squares(directions + begin, end - begin)};
    }
    find_trust();
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      const auto [parameter, begin, end, decay] = chunks_[c];
      subtract_scaled(static_cast<float>(learning_rate * trust_[parameter]), weights + begin,
                      directions + begin, end - begin);
    }
    parameters.weights_changed();
  }

 private:
  struct Squares {
    double weights = 0;
    double direction = 0;
  };

  void find_trust() {
    std::vector<Squares> sums(trust_.size());
    std::fill(trust_.begin(), trust_.end(), 1.0);
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      Squares& sum = sums[chunks_[c].parameter];
      sum.weights += squares_[c].weights;
      sum.direction += squares_[c].direction;
    }
    for (const Chunk& chunk : chunks_) {
      const Squares& sum = sums[chunk.parameter];
      if (chunk.decay && sum.weights > 0 && sum.direction > 0)
        trust_[chunk.parameter] = std::sqrt(sum.weights / sum.direction);
    }
  }

  std::vector<Squares> squares_;  // of each chunk
  std::vector<double> trust_;     // of each parameter: |w| / |u|
};

}  // namespace

double global_norm(std::span<const float> values, int threads) {
  std::vector<double> parts((values.size() + kChunk - 1) / kChunk);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::size_t c = 0; c < parts.size(); ++c) {
    const std::size_t begin = c * kChunk;
    parts[c] = sum_of_squares(values.data() + begin, std::min(kChunk, values.size() - begin));
  }
  double sum = 0;
  for (const double part : parts) sum += part;
  return std::sqrt(sum);
}

double clip_factor(double norm, double clip) { return clip > 0 && norm > clip ? clip / norm : 1; }

Optimizer::Optimizer(const OptimizerSpec& spec, ParameterStore& parameters, int threads)
    : spec_(spec),
      threads_(threads),
      first_(parameters.weights().size()),
      second_(parameters.weights().size()) {
  for (std::size_t p = 0; p < parameters.list().size(); ++p) {
    const Parameter& parameter = parameters.list()[p];
    const auto end = static_cast<std::size_t>(parameter.offset + parameter.size());
    for (auto begin = static_cast<std::size_t>(parameter.offset); begin < end; begin += kChunk)
      chunks_.push_back({p, begin, std::min(begin + kChunk, end), parameter.decay});
  }
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec, ParameterStore& parameters,
                                          int threads) {
  if (spec.name == OptimizerKind::lamb) return std::make_unique<Lamb>(spec, parameters, threads);
  return std::make_unique<AdamW>(spec, parameters, threads);
}

}  // namespace podium
