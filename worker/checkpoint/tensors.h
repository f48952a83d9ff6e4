// Which tensors of a process a checkpoint keeps, and which pieces of them this process writes. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "worker/comm/parallel.h"
#include "worker/formats/pieces.h"
#include "worker/nn/flat_range.h"
#include "worker/nn/parameters.h"

namespace podium {

// What an optimizer keeps of every element in its shard, one range after the other.
struct OptimizerState {
  std::string name;         // names a checkpoint's tensors, so it must never change
  std::span<float> values;  // in the parameters' memory space
};

// The tensors of one process that a checkpoint keeps.
struct CheckpointTensors {
  ParameterStore& parameters;
  std::vector<OptimizerState> states;
  std::vector<FlatRange> shard;  // the ranges that the states belong to, in order
};

// A piece of one parameter and where this process has it.
struct HeldPiece {
  Piece piece;
  std::int64_t weights = 0;  // position in the flat weights
  std::int64_t states = 0;   // position in each of the states
};

// The pieces that this process's states belong to.
std::vector<HeldPiece> state_pieces(const CheckpointTensors& tensors);
// The pieces that this process writes. Over all ranks of the layout they cover every element of every
// parameter once.
std::vector<HeldPiece> owned_pieces(const CheckpointTensors& tensors, const ParallelLayout& layout,
                                    const ParallelPlace& place);

}  // namespace podium
