// A weight in panels (panels.h), and its product with the rows of x by many threads. Every result is summed
// by one thread in the order of the inputs: it depends neither on the number of threads nor on other rows.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "worker/ops/cpu/panels.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops::cpu {

struct PanelWeight {
  DType type = DType::f32;
  std::int64_t out = 0, in = 0;
  AlignedBytes bytes = {};

  std::int64_t panels() const { return (out + kPanelOutputs - 1) / kPanelOutputs; }
  const std::byte* panel(std::int64_t i) const { return bytes.get() + i * panel_bytes(type, in); }
};

// Of `values` [out, in] in f32, bf16 or i8.
PanelWeight make_panels(ConstTensorView values, int threads);

// Part of a product's result.
struct Tile {
  std::int64_t row = 0, rows = 0;
  std::int64_t column = 0, columns = 0;
};

// The work in pieces, in their best order: a task is a panel and a chunk of rows. Both are taken in blocks of
// inputs that stay in the second-level cache together. Keeps the sums of i8's rows in the context's scratch
// memory.
class PanelTasks {
 public:
  PanelTasks(Context& context, ConstTensorView x, const PanelWeight& weight);

  std::int64_t count() const { return chunks_ * weight_.panels(); }
  // finish(tile, its sums, f32 [rows, kPanelOutputs]) for the tiles of a task; on the way the beginning of
  // the panel of `following`, where that is a task, is fetched.
  template <class Finish>
  void compute(std::int64_t task, std::int64_t following, const Finish& finish) const {
    alignas(kAlignment) float sums[kMostChunkRows * kPanelOutputs];
    const std::int64_t tiles = tiles_of(task);
    for (std::int64_t step = 0; step < tiles * blocks_; ++step) {
      const Tile tile = tile_of(task, step % tiles);
      float* const own = sums + (tile.row - rows_of(task).begin) * kPanelOutputs;
      multiply({task, following, step, tiles}, tile, own);
      if (step / tiles == blocks_ - 1) finish(tile, own);
    }
  }

 private:
  static constexpr std::int64_t kMostChunkRows = 192;

  struct Step {
    std::int64_t task, following;
    std::int64_t index;  // block by block, and in those tile by tile
    std::int64_t tiles;
  };

  Range rows_of(std::int64_t task) const { return part_of(x_.shape[0], 1, task / weight_.panels(), chunks_); }
  std::int64_t tiles_of(std::int64_t task) const {
    const Range rows = rows_of(task);
    return (rows.end - rows.begin + kTileRows - 1) / kTileRows;
  }
  Tile tile_of(std::int64_t task, std::int64_t index) const;
  void multiply(const Step& step, const Tile& tile, float* sums) const;
  // Words of block `index` of panel `task`'s, in memory.
  std::span<const std::byte> block_of(std::int64_t task, std::int64_t index) const;

  ConstTensorView x_;
  const PanelWeight& weight_;
  std::int64_t chunks_, blocks_;
  const std::int32_t* x_sums_ = nullptr;  // of i8
};

// finish(tile, sums) for all of x w^T, by all threads; it must not throw.
template <class Finish>
void multiply_by_panels(Context& context, ConstTensorView x, const PanelWeight& weight,
                        const Finish& finish) {
  const ArenaScope scope(context.scratch);
  const PanelTasks tasks(context, x, weight);
  std::atomic<std::int64_t> claimed = 0;
#pragma omp parallel num_threads(context.threads)
  for (std::int64_t task = claimed++; task < tasks.count();) {
    const std::int64_t following = claimed++;
    tasks.compute(task, following, finish);
    task = following;
  }
}

}  // namespace podium::ops::cpu
