#include "worker/ops/cuda/inference/plan.h"

#include <algorithm>

namespace podium::ops::cuda {
namespace {

constexpr std::int64_t kMultiprocessors = 132;  // of an H100 or H200
constexpr std::int64_t kSplitBytes = 40 << 10;  // about a microsecond of one's share of the cache's bandwidth
constexpr std::int64_t kPanelBytes = 128;       // of a weight's row; a part of a split has two at least

std::int64_t parts(std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; }

std::int64_t tiles_of(const ProductSizes& sizes, const TileSize& tile) {
  return parts(sizes.rows, tile.rows) * parts(sizes.out, tile.out);
}

std::int64_t cost(const ProductSizes& sizes, TilePlan plan) {
  const TileSize& tile = kTileSizes[plan.tile];
  const std::int64_t waves = parts(tiles_of(sizes, tile) * plan.splits, kMultiprocessors);
  const std::int64_t block_bytes = (tile.out * sizes.weight_bytes + tile.rows * sizes.x_bytes) / plan.splits;
  // The last block of a tile reads all sums of four bytes alone, at more than twice the speed of many.
  const std::int64_t adding = plan.splits * tile.out * tile.rows * std::int64_t{4} * 2 / 5;
  return waves * block_bytes + (plan.splits > 1 ? kSplitBytes + adding : 0);
}

}  // namespace

std::vector<TilePlan> tile_plans(const ProductSizes& sizes, std::int64_t shared_bytes) {
  std::vector<TilePlan> plans;
  for (int tile = 0; tile < kTiles; ++tile) {
    if (kTileSizes[tile].shared_bytes > shared_bytes) continue;
    const std::int64_t slabs = parts(sizes.weight_bytes, kPanelBytes);
    for (const int splits : {1, 2, 4, 8}) {
      const bool useful = tiles_of(sizes, kTileSizes[tile]) <= kMaxSplitTiles && slabs >= 2 * splits;
      if (splits == 1 || useful) plans.push_back({tile, splits});
    }
  }
  std::ranges::stable_sort(plans, {}, [&](TilePlan plan) { return cost(sizes, plan); });
  return plans;
}

}  // namespace podium::ops::cuda
