// AdamW and LAMB over the flat parameter buffers. Every result is a function of its inputs alone, the same
// bits for any number of threads and any instruction set: replicas on different nodes must never drift apart.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/model/spec.h"
#include "worker/nn/parameters.h"

namespace podium {

// The Euclidean norm, summed in double precision.
double global_norm(std::span<const float> values, int threads);

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // One update, in place. `step` counts from 1. Gradients are scaled by `gradient_scale` first, and are spent
  // after.
  virtual void update(ParameterStore& parameters, std::int64_t step, double learning_rate,
                      double gradient_scale) = 0;

  // The state to be saved, both as long as the weights.
  std::span<float> first_moment() { return first_; }
  std::span<float> second_moment() { return second_; }

 protected:
  // A part of one parameter: the unit of work of one thread.
  struct Chunk {
    std::size_t parameter = 0;
    std::size_t begin = 0;  // into the flat buffers
    std::size_t end = 0;
    bool decay = true;
  };

  Optimizer(const OptimizerSpec& spec, ParameterStore& parameters, int threads);

  OptimizerSpec spec_;
  int threads_;
  std::vector<Chunk> chunks_;
  std::vector<float> first_;
  std::vector<float> second_;
};

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec, ParameterStore& parameters, int threads);

// The factor that brings `norm` down to `clip`; 1 where it is within, or where `clip` is 0.
double clip_factor(double norm, double clip);

}  // namespace podium
