// How an inference product may be computed, and what each way would cost.
#pragma once

#include <cstdint>
#include <vector>

namespace podium::ops::cuda {

// The tiles that launch.cuh compiles: so many outputs by so many rows.
struct TileSize {
  int out, rows;
  int shared_bytes;  // of a block, at most
};
inline constexpr TileSize kTileSizes[] = {
    {32, 32, 80 << 10}, {64, 32, 96 << 10}, {64, 64, 104 << 10}, {128, 64, 108 << 10}, {128, 128, 156 << 10}};
inline constexpr int kTiles = 5;
inline constexpr int kMaxSplitTiles = 256;  // a product of more tiles is not split

// One of kTileSizes, and how many blocks share the depth of a tile.
struct TilePlan {
  int tile = 0;
  int splits = 1;

  bool operator==(const TilePlan&) const = default;
};

struct ProductSizes {
  std::int64_t rows = 0;
  std::int64_t out = 0;
  std::int64_t weight_bytes = 0;  // of a row
  std::int64_t x_bytes = 0;
};

// All that a device with so much shared memory for a block can run, the cheapest first. A function of its
// arguments alone. The cost is what passes from the second-level cache to the busiest multiprocessor of 132,
// and for a split the time in which its tickets and the adding of its parts stand still, in bytes too.
std::vector<TilePlan> tile_plans(const ProductSizes& sizes, std::int64_t shared_bytes);

}  // namespace podium::ops::cuda
