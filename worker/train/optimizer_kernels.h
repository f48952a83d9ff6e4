// The optimizers' loops over a chunk of a shard in host memory. Memory bandwidth bounds them, so they make as
// few passes as possible. Each is built for several instruction sets, of which one is chosen at run time. All
// give the same bits, because replicas on different nodes must never drift apart; so contraction of multiply
// and add is off (CMakeLists.txt).
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/model/spec.h"
#include "worker/ops/optimizer.h"

namespace podium {

using ops::OptimizerChunk;
using ops::OptimizerShard;
using ops::Rates;
using ops::Squares;

Rates rates_of(const OptimizerSpec& spec, std::int64_t step, double learning_rate, double gradient_scale);

double sum_of_squares(const float* values, std::size_t count);

// AdamW (Loshchilov and Hutter, 2019): w -= lr (m^ / (sqrt(v^) + eps) + decay w). Clears the gradients.
void adamw(const OptimizerShard& shard, const OptimizerChunk& chunk, const Rates& rates);

// Replaces the gradients by LAMB's direction u = m^ / (sqrt(v^) + eps) + decay w. Returns the sums of the
// squares of w and u.
Squares lamb_direction(const OptimizerShard& shard, const OptimizerChunk& chunk, const Rates& rates);
// w -= scale u. Clears the directions.
void lamb_step(const OptimizerShard& shard, const OptimizerChunk& chunk, float scale);

}  // namespace podium
