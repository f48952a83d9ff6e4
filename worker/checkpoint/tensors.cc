#include "worker/checkpoint/tensors.h"

#include <algorithm>

namespace podium {

std::vector<HeldPiece> state_pieces(const CheckpointTensors& tensors) {
  std::vector<HeldPiece> held;
  std::int64_t before = 0;  // elements of earlier ranges
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
  std::int64_t held_here = 0;
  for (const FlatRange& range : tensors.shard) held_here += range.size();
  const bool replicated = held_here == length;
  // Where data ranks hold the same, each writes an equal part of it.
  const FlatRange part =
      replicated ? FlatRange{length * place.data / layout.data, length * (place.data + 1) / layout.data}
                 : FlatRange{0, length};
  std::vector<HeldPiece> owned;
  for (HeldPiece held : state_pieces(tensors)) {
    const Parameter& p = *tensors.parameters.find(held.piece.parameter);
    const bool another_ranks = p.tied_copy || (p.slice.axis < 0 && place.tensor != 0);
    const std::int64_t begin = std::max(part.begin, held.weights);
    const std::int64_t end = std::min(part.end, held.weights + held.piece.size());
    if (another_ranks || begin >= end) continue;
    held.states += begin - held.weights;
    held.weights = begin;
    held.piece.first = begin - p.offset;
    held.piece.last = end - p.offset;
    owned.push_back(std::move(held));
  }
  return owned;
}

}  // namespace podium
