// Which tensors of a process a checkpoint keeps, and which pieces of them this process writes. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "worker/comm/parallel.h"
#include "worker/formats/pieces.h"
#include "worker/nn/flat_range.h"
#include "worker/nn/parameters.h"

namespace podium {

// The tensors of one process that a checkpoint keeps.
struct CheckpointTensors {
  ParameterStore& parameters;
  std::span<float> first_moment;  // in the parameters' memory space; both of the elements in `shard`, one
                                  // range after the other
  std::span<float> second_moment;
  std::vector<FlatRange> shard;  // in order
};

// A piece of one parameter and where this process has it.
struct HeldPiece {
  Piece piece;
  std::int64_t weights = 0;  // position in the flat weights
  std::int64_t moments = 0;  // position in the moments
};

// What the moments of this process are of.
std::vector<HeldPiece> moment_pieces(const CheckpointTensors& tensors);
// What this process writes: over all ranks of the layout every element of every parameter once.
std::vector<HeldPiece> owned_pieces(const CheckpointTensors& tensors, const ParallelLayout& layout,
                                    const ParallelPlace& place);

}  // namespace podium
