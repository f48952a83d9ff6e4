#include "worker/ops/optimizer.h"

#include "common/base/check.h"
#include "worker/ops/backend.h"

namespace podium::ops {
namespace {

const Backend& optimizing_backend(const Context& context) {
  PODIUM_CHECK(backend(context).adamw != nullptr, "the CPU's optimizers are loops of worker/train");
  return backend(context);
}

}  // namespace

void sum_of_squares(Context& context, const OptimizerShard& shard, std::span<double> sums) {
  PODIUM_CHECK(sums.size() == shard.chunks.size(), "one sum a chunk");
  if (!sums.empty()) optimizing_backend(context).sum_of_squares(context, shard, sums);
}

void adamw(Context& context, const OptimizerShard& shard, const Rates& rates) {
  if (!shard.chunks.empty()) optimizing_backend(context).adamw(context, shard, rates);
}

void lamb_direction(Context& context, const OptimizerShard& shard, const Rates& rates,
                    std::span<Squares> squares) {
  PODIUM_CHECK(squares.size() == shard.chunks.size(), "two sums a chunk");
  if (!squares.empty()) optimizing_backend(context).lamb_direction(context, shard, rates, squares);
}

void lamb_scales(Context& context, const OptimizerShard& shard, std::span<const std::int32_t> chunk_begins,
                 std::span<const Squares> squares, float learning_rate, std::span<float> scales) {
  PODIUM_CHECK(squares.size() == shard.chunks.size() && chunk_begins.size() == scales.size() + 1,
               "two sums a chunk, and a begin a parameter and the end");
  if (!squares.empty())
    optimizing_backend(context).lamb_scales(context, shard, chunk_begins, squares, learning_rate, scales);
}

void lamb_step(Context& context, const OptimizerShard& shard, std::span<const float> scales) {
  if (!shard.chunks.empty()) optimizing_backend(context).lamb_step(context, shard, scales);
}

}  // namespace podium::ops
