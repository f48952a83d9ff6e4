// A weight in panels (panels.h), and its product with the rows of x by many threads. Every result is summed
// by one thread in the order of the inputs: it depends neither on the number of threads nor on other rows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "worker/ops/cpu/claims.h"
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

// A panel and a chunk of rows, which is cut into tiles of `tile_rows` or, the first ones, one more.
struct PanelTask {
  const std::byte* panel = nullptr;
  std::int64_t row = 0, column = 0, columns = 0;
  std::int64_t tiles = 0, tile_rows = 0, larger_tiles = 0;
};

// The work in pieces, in their best order. Panels and rows are taken in blocks of inputs that stay in the
// second-level cache together. Keeps the sums of i8's rows in the context's scratch memory.
class PanelTasks {
 public:
  PanelTasks(Context& context, ConstTensorView x, const PanelWeight& weight);

  std::int64_t count() const { return chunks_ * weight_.panels(); }
  PanelTask operator[](std::int64_t index) const;

  // finish(tile, its sums, f32 [rows, kPanelOutputs]) for the tiles of a task; on the way the beginning of
  // the panel of `following`, where there is one, is fetched.
  template <class Finish>
  void compute(const PanelTask& task, const PanelTask* following, const Finish& finish) const {
    alignas(kAlignment) float sums[kMostChunkRows * kPanelOutputs];
    for (std::int64_t block = 0; block < blocks_; ++block) {
      TileTask product = first_tile(task, following, block);
      for (std::int64_t tile = 0, row = 0; tile < task.tiles; ++tile) {
        const std::int64_t rows = task.tile_rows + (tile < task.larger_tiles ? 1 : 0);
        float* const own = sums + row * kPanelOutputs;
        multiply(product, rows, own);
        if (block + 1 == blocks_) finish(Tile{task.row + row, rows, task.column, task.columns}, own);
        row += rows;
      }
    }
  }

 private:
  static constexpr std::int64_t kMostChunkRows = 128;

  std::int64_t panel_at(std::int64_t i) const;
  Range words_of(std::int64_t block) const;
  TileTask first_tile(const PanelTask& task, const PanelTask* following, std::int64_t block) const;
  // Multiplies a tile of so many rows, and goes on to the next one.
  void multiply(TileTask& tile, std::int64_t rows, float* sums) const;

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
  Claims claims(tasks.count(), context.threads);
#pragma omp parallel num_threads(context.threads)
  {
    const int thread = omp_get_thread_num();
    for (std::int64_t index = claims.next(thread); index < tasks.count();) {
      const std::int64_t following = claims.next(thread);
      const PanelTask task = tasks[index], next = tasks[std::min(following, tasks.count() - 1)];
      tasks.compute(task, following < tasks.count() ? &next : nullptr, finish);
      index = following;
    }
  }
}

}  // namespace podium::ops::cpu
