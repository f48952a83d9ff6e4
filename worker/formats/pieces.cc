#include "worker/formats/pieces.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace podium {
namespace {

using nlohmann::json;

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

void check(const Piece& piece) {
  const Box& box = piece.box;
  const bool has_axis = box.axis < static_cast<int>(box.full.size());
  const bool fits = box.axis < 0 || (has_axis && box.begin >= 0 && box.extent >= 0 &&
                                     box.extent <= box.full[static_cast<std::size_t>(box.axis)] - box.begin);
  if (!fits || piece.first < 0 || piece.last < piece.first || piece.last > box.size())
    throw std::runtime_error("it lists a piece of " + piece.parameter + " that lies outside of it");
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

json to_json(const Piece& piece) {
  json out{{"parameter", piece.parameter}, {"shape", piece.box.full}};
  if (piece.box.axis >= 0) out["slice"] = {piece.box.axis, piece.box.begin, piece.box.extent};
  if (piece.size() != piece.box.size()) out["range"] = {piece.first, piece.last};
  return out;
}

Piece piece_from_json(const json& in) {
  Piece piece{in.at("parameter"), whole_box(in.at("shape")), 0, 0};
  if (const auto slice = in.find("slice"); slice != in.end()) {
    piece.box.axis = slice->at(0);
    piece.box.begin = slice->at(1);
    piece.box.extent = slice->at(2);
  }
  if (const auto range = in.find("range"); range != in.end()) {
    piece.first = range->at(0);
    piece.last = range->at(1);
  } else {
    piece.last = piece.box.size();
  }
  check(piece);
  return piece;
}

}  // namespace podium
