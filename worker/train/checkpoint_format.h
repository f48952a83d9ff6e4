// What lies in a checkpoint's folder, whoever wrote it:
//
//   step-00000200/manifest.json            written last: without it the checkpoint is absent
//                 rank-00000.safetensors   what rank 0 owns of weights and optimizer moments, and so on
//
// The manifest names every full parameter with its shape and, for each file, its checksum and the pieces it
// holds. Together the pieces of all files cover every parameter once, so any layout can read what any other
// wrote.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/model/spec.h"
#include "worker/comm/parallel.h"
#include "worker/train/checkpoint_pieces.h"
#include "worker/train/loss_scaler.h"
#include "worker/train/safetensors.h"

namespace podium {

// What a resumed run must know besides the tensors. Data order, masks and dropout follow from the step alone.
struct CheckpointState {
  std::int64_t step = 0;     // optimizer steps finished, through all phases
  int phase = 0;             // of the next step, or the last one
  std::int64_t samples = 0;  // sequences consumed: where the data goes on
  std::string fingerprint;   // of everything in the spec that shapes the run
  ParallelLayout layout;     // the one it was written by
  LossScalerState loss_scaler;
  bool target_reached = false;  // the run had reached its goal: nothing is left to do
  JobSpec spec;
};

struct CheckpointFile {
  FileDigest digest;
  std::vector<Piece> pieces;
};

struct CheckpointManifest {
  CheckpointState state;
  std::map<std::string, std::vector<std::int64_t>> parameters;  // name → full shape
  std::map<std::string, CheckpointFile> files;
};

nlohmann::json to_json(const CheckpointFile& file);
CheckpointFile checkpoint_file_from_json(const nlohmann::json& json);
std::string manifest_text(const CheckpointManifest& manifest);
// Throws std::runtime_error saying what is wrong, or that another version of the program wrote it.
CheckpointManifest read_manifest(const std::filesystem::path& checkpoint);

// Throws std::runtime_error naming the file that is missing or not as it was saved.
void verify_file(const std::filesystem::path& checkpoint, const std::string& name, const FileDigest& expected);

std::string checkpoint_name(std::int64_t step);          // "step-00000200"
std::string rank_file_name(int rank);                    // "rank-00003.safetensors"
// Names of the checkpoints in `folder`, newest first.
std::vector<std::string> checkpoints_in(const std::filesystem::path& folder);

}  // namespace podium
