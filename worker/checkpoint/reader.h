// Reads a checkpoint's tensors for any layout.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/recently_used.h"
#include "worker/checkpoint/manifest.h"
#include "worker/checkpoint/tensors.h"
#include "worker/formats/safetensors.h"

namespace podium {

// Verifies every file of a checkpoint and returns its manifest. Throws BadData that says what is wrong.
CheckpointManifest read_whole_checkpoint(const std::filesystem::path& checkpoint);

// What a model may lie in. Where a folder is of two kinds the first one counts.
enum class ModelFolder : char { checkpoint, hugging_face, checkpoints, nothing };
// Throws std::filesystem::filesystem_error.
ModelFolder kind_of_model(const std::filesystem::path& folder);

// The checkpoint that `folder` is or, of those in it, the newest whole one, to which `folder` is changed
// then. Nothing for a Hugging Face folder. Throws BadData where it is none of them.
std::optional<CheckpointManifest> find_checkpoint(std::filesystem::path& folder);

// A piece of one kind (kWeights, or an optimizer's state) and where to read it to.
struct WantedPiece {
  std::string kind;
  Piece piece;
  std::span<float> out;
  MemorySpace memory = {};  // of `out`
};

// Reads pieces and opens only the files that hold parts of them. Throws std::runtime_error if a file is not
// as the manifest says, or holds another model.
class CheckpointReader {
 public:
  // The manifest must outlive it.
  CheckpointReader(std::filesystem::path checkpoint, const CheckpointManifest& manifest);

  void read(std::span<const WantedPiece> wanted);

 private:
  static constexpr std::size_t kMostOpen = 64;  // of files, of which a checkpoint has one a rank

  struct Place {
    std::string file;
    const Piece* piece;
  };

  const std::filesystem::path checkpoint_;
  std::multimap<std::string, Place> places_;  // by parameter
  RecentlyUsed<std::string, SafetensorsFile> files_{kMostOpen};
};

// Reads the weights and the optimizer's states of one process.
void read_tensors(const std::filesystem::path& checkpoint, const CheckpointManifest& manifest,
                  const CheckpointTensors& tensors);

}  // namespace podium
