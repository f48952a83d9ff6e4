#include "worker/train/checkpoint_pieces.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace podium {
namespace {

std::int64_t product(std::span<const std::int64_t> values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{1}, std::multiplies<>());
}

// A box as runs of elements that lie side by side in the whole tensor: run r holds the box's elements
// [r * length, (r + 1) * length) and begins at element r * stride + offset of the whole.
struct Runs {
  std::int64_t length = 0;
  std::int64_t stride = 0;
  std::int64_t offset = 0;
};

Runs runs_of(const Box& box) {
  if (box.axis < 0) return {box.size(), box.size(), 0};
  const auto axis = static_cast<std::size_t>(box.axis);
  const std::int64_t inner = product(std::span(box.full).subspan(axis + 1));
  return {box.extent * inner, box.full[axis] * inner, box.begin * inner};
}

// The elements [begin, end) of the whole tensor that a piece holds: appends where they lie in it, as runs
// whose `from` counts from `from`.
void append_held(const Piece& piece, const Runs& runs, std::int64_t begin, std::int64_t end,
                 std::int64_t from, std::vector<CommonRun>& found) {
  for (std::int64_t r = std::max<std::int64_t>(0, (begin - runs.offset) / runs.stride);; ++r) {
    const std::int64_t run_begin = r * runs.stride + runs.offset;
    if (run_begin >= end || r * runs.length >= piece.last) return;
    const std::int64_t to_piece = r * runs.length - run_begin;  // from the whole's numbering to the box's
    const std::int64_t first = std::max({begin, run_begin, piece.first - to_piece});
    const std::int64_t last = std::min({end, run_begin + runs.length, piece.last - to_piece});
    if (first < last) found.push_back({from + first - begin, first + to_piece - piece.first, last - first});
  }
}

}  // namespace

std::vector<std::int64_t> Box::shape() const {
  std::vector<std::int64_t> shape = full;
  if (axis >= 0) shape[static_cast<std::size_t>(axis)] = extent;
  return shape;
}

std::int64_t Box::size() const { return product(shape()); }

Box whole_box(std::vector<std::int64_t> shape) { return {std::move(shape), -1, 0, 0}; }

Box box_of(const Parameter& parameter) {
  const Shape full = parameter.full_shape();
  Box box;
  for (int axis = 0; axis < full.rank(); ++axis) box.full.push_back(full[axis]);
  if (parameter.slice.axis < 0) return box;
  box.axis = parameter.slice.axis;
  box.begin = parameter.slice.begin;
  box.extent = parameter.shape[box.axis];
  return box;
}

Piece whole_piece(const Parameter& parameter) {
  return {parameter.name, box_of(parameter), 0, parameter.size()};
}

std::vector<CommonRun> common_runs(const Piece& from, const Piece& to) {
  std::vector<CommonRun> found;
  if (from.size() == 0 || to.size() == 0) return found;
  const Runs from_runs = runs_of(from.box), to_runs = runs_of(to.box);
  for (std::int64_t at = from.first; at < from.last;) {
    const std::int64_t run = at / from_runs.length, within = at % from_runs.length;
    const std::int64_t count = std::min(from_runs.length - within, from.last - at);
    const std::int64_t begin = run * from_runs.stride + from_runs.offset + within;
    append_held(to, to_runs, begin, begin + count, at - from.first, found);
    at += count;
  }
  return found;
}

void copy_runs(std::span<const CommonRun> runs, std::span<const float> from, std::span<float> to,
               const MemorySpace& memory) {
  for (const CommonRun& run : runs)
    memory.copy(&to[static_cast<std::size_t>(run.to)], &from[static_cast<std::size_t>(run.from)],
                static_cast<std::size_t>(run.count) * sizeof(float));
  memory.synchronise();
}

std::vector<HeldPiece> moment_pieces(const CheckpointTensors& tensors) {
  std::vector<HeldPiece> held;
  std::int64_t before = 0;  // moments of earlier ranges
  for (const FlatRange& range : tensors.shard) {
    for (const Parameter& p : tensors.parameters.list()) {
      const std::int64_t begin = std::max(range.begin, p.offset),
                         end = std::min(range.end, p.offset + p.size());
      if (begin >= end) continue;
      held.push_back(
          {{p.name, box_of(p), begin - p.offset, end - p.offset}, begin, before + begin - range.begin});
    }
    before += range.end - range.begin;
  }
  return held;
}

std::vector<HeldPiece> owned_pieces(const CheckpointTensors& tensors, const ParallelLayout& layout,
                                    const ParallelPlace& place) {
  const auto length = static_cast<std::int64_t>(tensors.parameters.weights().size());
  const bool replicated = static_cast<std::int64_t>(tensors.first_moment.size()) == length;
  // Where data ranks hold the same, each writes an equal part of it.
  const FlatRange part =
      replicated ? FlatRange{length * place.data / layout.data, length * (place.data + 1) / layout.data}
                 : FlatRange{0, length};
  std::vector<HeldPiece> owned;
  for (HeldPiece held : moment_pieces(tensors)) {
    const Parameter& p = *tensors.parameters.find(held.piece.parameter);
    const bool another_ranks = p.tied_copy || (p.slice.axis < 0 && place.tensor != 0);
    const std::int64_t begin = std::max(part.begin, held.weights);
    const std::int64_t end = std::min(part.end, held.weights + held.piece.size());
    if (another_ranks || begin >= end) continue;
    held.moments += begin - held.weights;
    held.weights = begin;
    held.piece.first = begin - p.offset;
    held.piece.last = end - p.offset;
    owned.push_back(std::move(held));
  }
  return owned;
}

}  // namespace podium
