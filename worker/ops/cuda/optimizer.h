// See worker/ops/optimizer.h.
#pragma once

#include "worker/ops/optimizer.h"

namespace podium::ops::cuda {

void sum_of_squares(Context& context, const OptimizerShard& shard, std::span<double> sums);
void adamw(Context& context, const OptimizerShard& shard, const Rates& rates);
void lamb_direction(Context& context, const OptimizerShard& shard, const Rates& rates,
                    std::span<Squares> squares);
void lamb_scales(Context& context, const OptimizerShard& shard, std::span<const std::int32_t> chunk_begins,
                 std::span<const Squares> squares, float learning_rate, std::span<float> scales);
void lamb_step(Context& context, const OptimizerShard& shard, std::span<const float> scales);

}  // namespace podium::ops::cuda
