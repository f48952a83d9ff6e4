// A shard of the flat parameter buffers, cut into chunks, and the optimizers' passes over one on a device, a
// block for each chunk. Memory bounds them all. Formulas, papers and the CPU's loops over the same chunks:
// worker/train/optimizer_kernels.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "worker/tensor/context.h"

namespace podium::ops {

// What one element's update needs; bias corrections as in Kingma and Ba (2015).
struct Rates {
  float beta1, beta2, rest1, rest2;
  float gradient_scale;
  float correction1, correction2;  // 1 / (1 - beta^step), the second as a square root
  float epsilon;
  float learning_rate;
  float weight_decay;
};

// Sums over a chunk of LAMB's weights and directions.
struct Squares {
  double weights = 0;
  double direction = 0;
};

// A part of one parameter within the shard. Both places are multiples of four elements.
struct OptimizerChunk {
  std::int64_t begin = 0;   // into the flat buffers
  std::int64_t states = 0;  // into each of the optimizer's states
  std::int64_t count = 0;
  std::int32_t parameter = 0;  // its index in the store
  std::int32_t decay = 0;      // 1: weight decay applies
};

// All of it in one memory: the host's, or the device's for the passes below.
struct OptimizerShard {
  static constexpr std::size_t kMostStates = 4;

  std::span<const OptimizerChunk> chunks;
  float* weights = nullptr;
  float* gradients = nullptr;
  std::array<float*, kMostStates> states{};  // as the optimizer declares them: of AdamW and LAMB both moments
  // Where given: a copy of the flat weights in 16 bits. A pass that updates weights rounds them into it, too.
  void* narrowed = nullptr;
  DType narrowed_type = DType::bf16;
};

// The sums of the squares of each chunk's gradients, the same bits in every run.
void sum_of_squares(Context& context, const OptimizerShard& shard, std::span<double> sums);

// Updates the weights and clears the gradients.
void adamw(Context& context, const OptimizerShard& shard, const Rates& rates);

// Leaves each chunk's directions in place of its gradients, and their squares' sums.
void lamb_direction(Context& context, const OptimizerShard& shard, const Rates& rates,
                    std::span<Squares> squares);
// Each parameter's scale from the sums of all its chunks: the learning rate, times |w| / |u| where weight
// decay applies and neither is zero. The chunks of parameter p are those from chunk_begins[p] up to
// chunk_begins[p + 1].
void lamb_scales(Context& context, const OptimizerShard& shard, std::span<const std::int32_t> chunk_begins,
                 std::span<const Squares> squares, float learning_rate, std::span<float> scales);
// w -= scale u, with each parameter's scale. Clears the directions.
void lamb_step(Context& context, const OptimizerShard& shard, std::span<const float> scales);

}  // namespace podium::ops
