// Reads a checkpoint's tensors into whatever layout asks for them.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "worker/train/checkpoint_format.h"
#include "worker/train/checkpoint_pieces.h"

namespace podium {

// The manifest of a checkpoint of which every file is as it was saved. Throws BadData saying what is wrong.
CheckpointManifest read_whole_checkpoint(const std::filesystem::path& checkpoint);

// Where a piece of one kind (kCheckpointKinds) is wanted.
struct WantedPiece {
  const char* kind;
  Piece piece;
  std::span<float> out;
  MemorySpace memory = {};  // of `out`
};

// Throws std::runtime_error where a file is not as the manifest says or holds another model.
void read_pieces(const std::filesystem::path& checkpoint, const CheckpointManifest& manifest,
                 std::span<const WantedPiece> wanted);

// Weights and moments of one process.
void read_tensors(const std::filesystem::path& checkpoint, const CheckpointManifest& manifest,
                  const CheckpointTensors& tensors);

}  // namespace podium
