#include "worker/ops/cpu/panel_product.h"

#include <algorithm>

#include "worker/ops/cpu/simd.h"

namespace podium::ops::cpu {
namespace {

// A block of a panel takes 192 KiB, and of a chunk of 128 rows 384: in caches of 1 MiB they leave room for
// the panel to come.
constexpr std::int64_t kBlockWords = 768;
constexpr std::int64_t kChunkRows = 128;
constexpr std::int64_t kTasksPerThread = 4;

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t chunks_of(std::int64_t rows, std::int64_t panels, int threads) {
  const std::int64_t for_threads = divided_up(kTasksPerThread * threads, panels);
  return std::min(std::max(divided_up(rows, kChunkRows), for_threads), divided_up(rows, kTileRows));
}

PODIUM_SIMD_CLONES std::int32_t sum(const std::int8_t* values, std::int64_t count) {
  std::int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < count; ++i) sum += values[i];
  return sum;
}

const std::int32_t* row_sums(Context& context, ConstTensorView x) {
  const std::int64_t rows = x.shape[0], in = x.shape[1];
  const auto* const values = x.data<std::int8_t>();
  auto* const sums = context.scratch.allocate(DType::i32, Shape{rows}).data<std::int32_t>();
  parallel_ranges(context.threads, rows, 1, [&](Range range, int) {
    for (std::int64_t row = range.begin; row < range.end; ++row) sums[row] = sum(values + row * in, in);
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
      chunks_(chunks_of(x.shape[0], weight.panels(), context.threads)),
      blocks_(weight.type == DType::i8 ? 1 : divided_up(panel_words(weight.type, weight.in), kBlockWords)) {
  static_assert(kChunkRows <= kMostChunkRows);
  if (weight.type == DType::i8) x_sums_ = row_sums(context, x);
}

Tile PanelTasks::tile_of(std::int64_t task, std::int64_t index) const {
  const Range chunk = rows_of(task), rows = part_of(chunk.end - chunk.begin, 1, index, tiles_of(task));
  const std::int64_t column = task % weight_.panels() * kPanelOutputs;
  return {chunk.begin + rows.begin, rows.end - rows.begin, column,
          std::min(kPanelOutputs, weight_.out - column)};
}

std::span<const std::byte> PanelTasks::block_of(std::int64_t task, std::int64_t index) const {
  const Range words = part_of(panel_words(weight_.type, weight_.in), 1, index, blocks_);
  return {weight_.panel(task % weight_.panels()) + words.begin * kPanelWordBytes,
          static_cast<std::size_t>((words.end - words.begin) * kPanelWordBytes)};
}

void PanelTasks::multiply(const Step& step, const Tile& tile, float* sums) const {
  const std::int64_t block = step.index / step.tiles, words = panel_words(weight_.type, weight_.in);
  const std::int64_t size = static_cast<std::int64_t>(size_of(x_.dtype)), per_word = kWordBytes / size;
  const Range range = part_of(words, 1, block, blocks_);
  const std::int64_t first = range.begin * per_word, stride = weight_.in * size;
  TileTask product{
      .x = {static_cast<const std::byte*>(x_.address) + tile.row * stride + first * size, stride},
      .rows = static_cast<int>(tile.rows),
      .in = std::min(range.end * per_word, weight_.in) - first,
      .panel = block_of(step.task, block).data(),
      .x_sums = x_sums_ == nullptr ? nullptr : x_sums_ + tile.row,
      .sums = sums,
      .accumulate = block > 0};
  const bool last = block + 1 == blocks_;
  if (!last || step.following < count()) {  // the tiles share the work
    const std::span<const std::byte> next =
        last ? block_of(step.following, 0) : block_of(step.task, block + 1);
    const Range lines =
        part_of(static_cast<std::int64_t>(next.size()), 64, step.index % step.tiles, step.tiles);
    product.next = next.data() + lines.begin;
    product.next_bytes = lines.end - lines.begin;
  }
  multiply_tile(weight_.type, product);
}

}  // namespace podium::ops::cpu
