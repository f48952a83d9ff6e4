#include "worker/ops/cpu/panel_product.h"

#include <algorithm>

namespace podium::ops::cpu {
namespace {

// A block of a panel takes 192 KiB, and of a chunk of 128 rows 384: in caches of 1 MiB they leave room for
// the panel to come.
constexpr std::int64_t kBlockWords = 768;
constexpr std::int64_t kTasksPerThread = 4;

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t chunks_of(std::int64_t rows, std::int64_t most_rows, std::int64_t panels, int threads) {
  const std::int64_t for_threads = divided_up(kTasksPerThread * threads, panels);
  return std::min(std::max(divided_up(rows, most_rows), for_threads), divided_up(rows, kTileRows));
}

const std::int32_t* row_sums(Context& context, ConstTensorView x) {
  const std::int64_t rows = x.shape[0], in = x.shape[1];
  const auto* const values = static_cast<const std::byte*>(x.address);
  auto* const sums = context.scratch.allocate(DType::i32, Shape{rows}).data<std::int32_t>();
  parallel_ranges(context.threads, rows, 1, [&](Range range, int) {
    sum_rows({values + range.begin * in, in}, range.end - range.begin, in, sums + range.begin);
  });
  return sums;
}

}  // namespace

PanelWeight make_panels(ConstTensorView values, int threads) {
  const std::int64_t row_bytes = values.shape[1] * static_cast<std::int64_t>(size_of(values.dtype));
  PanelWeight weight{.type = values.dtype, .out = values.shape[0], .in = values.shape[1]};
  const std::int64_t bytes = panel_bytes(weight.type, weight.in);
  weight.bytes = allocate_aligned(static_cast<std::size_t>(weight.panels() * bytes));
  parallel_ranges(threads, weight.panels(), 1, [&](Range range, int) {
    for (std::int64_t panel = range.begin; panel < range.end; ++panel) {
      const std::int64_t first = panel * kPanelOutputs;
      const MatrixRows rows{static_cast<const std::byte*>(values.address) + first * row_bytes, row_bytes};
      pack_panel(weight.type, rows, std::min(kPanelOutputs, weight.out - first), weight.in,
                 weight.bytes.get() + panel * bytes);
    }
  });
  return weight;
}

PanelTasks::PanelTasks(Context& context, ConstTensorView x, const PanelWeight& weight)
    : x_(x),
      weight_(weight),
      chunks_(chunks_of(x.shape[0], kMostChunkRows, weight.panels(), context.threads)),
      blocks_(weight.type == DType::i8 ? 1 : divided_up(panel_words(weight.type, weight.in), kBlockWords)) {
  if (weight.type == DType::i8) x_sums_ = row_sums(context, x);
}

// The panel that is the i-th in turn. Those of queries, keys and values are taken head by head, so that a
// head is in the caches of one thread, which then attends to it (panel_attention.h).
std::int64_t PanelTasks::panel_at(std::int64_t i) const {
  const bool heads = weight_.out == 3 * weight_.in && weight_.panels() % 3 == 0;
  return heads ? i % 3 * (weight_.panels() / 3) + i / 3 : i;
}

PanelTask PanelTasks::operator[](std::int64_t index) const {
  const Range rows = part_of(x_.shape[0], 1, index / weight_.panels(), chunks_);
  const std::int64_t panel = panel_at(index % weight_.panels()), count = rows.end - rows.begin;
  const std::int64_t tiles = divided_up(count, kTileRows), column = panel * kPanelOutputs;
  return {.panel = weight_.panel(panel),
          .row = rows.begin,
          .column = column,
          .columns = std::min(kPanelOutputs, weight_.out - column),
          .tiles = tiles,
          .tile_rows = count / tiles,
          .larger_tiles = count % tiles};
}

Range PanelTasks::words_of(std::int64_t block) const {
  return part_of(panel_words(weight_.type, weight_.in), 1, block, blocks_);
}

TileTask PanelTasks::first_tile(const PanelTask& task, const PanelTask* following, std::int64_t block) const {
  const bool last = block + 1 == blocks_;
  const Range words = words_of(block), next = words_of(last ? 0 : block + 1);
  const std::int64_t size = static_cast<std::int64_t>(size_of(x_.dtype)), per_word = kWordBytes / size;
  const std::int64_t first = words.begin * per_word, stride = weight_.in * size;
  TileTask tile{.x = {static_cast<const std::byte*>(x_.address) + task.row * stride + first * size, stride},
                .in = std::min(words.end * per_word, weight_.in) - first,
                .panel = task.panel + words.begin * kPanelWordBytes,
                .x_sums = x_sums_ == nullptr ? nullptr : x_sums_ + task.row,
                .accumulate = block > 0};
  const PanelTask* const next_task = last ? following : &task;
  if (next_task != nullptr) {  // each tile fetches its share
    tile.next = next_task->panel + next.begin * kPanelWordBytes;
    tile.next_bytes = divided_up((next.end - next.begin) * kPanelWordBytes, 64 * task.tiles) * 64;
  }
  return tile;
}

void PanelTasks::multiply(TileTask& tile, std::int64_t rows, float* sums) const {
  tile.rows = static_cast<int>(rows);
  tile.sums = sums;
  multiply_tile(weight_.type, tile);
  tile.x.begin += rows * tile.x.stride;
  tile.next += tile.next_bytes;
  tile.x_sums += tile.x_sums == nullptr ? 0 : rows;
}

}  // namespace podium::ops::cpu
