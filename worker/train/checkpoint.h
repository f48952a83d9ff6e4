// Checkpoints on disk: <folder>/step-00000200/{weights,optimizer}.safetensors and manifest.json.
// A checkpoint is whole or absent: it is written under a temporary name, every file fsynced, the manifest
// last, then renamed. Loading verifies every checksum and falls back to the newest checkpoint that is whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "worker/nn/parameters.h"
#include "worker/train/optimizer.h"
#include "worker/train/safetensors.h"

namespace podium {

// What a resumed run must know besides the tensors. Data order, masks and dropout follow from the step alone.
struct TrainingState {
  std::int64_t step = 0;
  std::string fingerprint;      // of everything in the spec that shapes the run
  int world_size = 1;           // the layout it was written by
  bool target_reached = false;  // the run had reached its goal: nothing is left to do
};

struct Manifest {
  TrainingState state;
  std::map<std::string, FileDigest> files;
};

struct SavedCheckpoint {
  std::string name;  // "step-00000200"
  std::int64_t bytes = 0;
};

class CheckpointFolder {
 public:
  // Creates the folder and removes what an interrupted save left behind. Throws Failure(disk_full) where it
  // cannot.
  CheckpointFolder(std::filesystem::path folder, int keep);

  // Throws Failure(disk_full) naming the file that could not be written. Only the `keep` newest stay.
  SavedCheckpoint save(const TrainingState& state, ParameterStore& parameters, Optimizer& optimizer);

  // The newest whole checkpoint goes into `parameters` and `optimizer`; nothing where there is none. What was
  // wrong with newer ones is appended to `problems`. Throws Failure(bad_spec) where the newest whole one is
  // of another spec.
  std::optional<TrainingState> load_newest(const std::string& fingerprint, ParameterStore& parameters,
                                           Optimizer& optimizer, std::vector<std::string>& problems);

 private:
  void write(const std::filesystem::path& temporary, const TrainingState& state, ParameterStore& parameters,
             Optimizer& optimizer, SavedCheckpoint& saved);
  void prune();

  std::filesystem::path folder_;
  int keep_;
};

// Reads the manifest of one checkpoint and verifies every file. Throws std::runtime_error saying what is
// wrong.
Manifest verify_checkpoint(const std::filesystem::path& checkpoint);

// Names of the checkpoints in `folder`, newest first.
std::vector<std::string> list_checkpoints(const std::filesystem::path& folder);

}  // namespace podium
