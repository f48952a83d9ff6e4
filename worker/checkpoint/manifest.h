// What lies in a checkpoint's folder, whoever wrote it:
//
//   step-00000200/manifest.json            written last: without it the checkpoint is absent
//                 rank-00000.safetensors   what rank 0 owns of weights and the optimizer's states, and so on
//
// The manifest tells each file's checksum and which pieces of which full parameters it holds. Together the
// files hold every element once, so any layout can read what any other wrote. A piece has a tensor of each
// kind: "weights/NAME", and one for each state of the optimizer ("first_moment/NAME"), with the shape of its
// box. If a piece has only the elements [a, b) of the box, the tensors are "weights/NAME[a:b]" and so on, of
// shape [b - a].
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/model/origin.h"
#include "common/model/spec.h"
#include "common/model/text_identity.h"
#include "worker/checkpoint/loss_scaler_state.h"
#include "worker/comm/parallel.h"
#include "worker/data/vocabulary_identity.h"
#include "worker/data/xxh3.h"
#include "worker/formats/pieces.h"

namespace podium {

// Of a run's checkpoints the one with the best value of a held-out metric.
struct BestCheckpoint {
  std::string metric;
  std::int64_t step = 0;
  double value = 0;

  bool known() const { return !metric.empty(); }
  bool operator==(const BestCheckpoint&) const = default;
};

// By what inputs of the layers' products are rounded (worker/nn/activation_ranges.h), by the products' names.
struct QuantisedInputs {
  QuantiseFormat format = QuantiseFormat::int8;
  std::map<std::string, float> ranges;  // empty: none are

  bool operator==(const QuantisedInputs&) const = default;
};

// What a resumed run must know besides the tensors. Masks and dropout follow from the step alone. The next
// batch follows from the step and the number of batches that were passed over.
struct CheckpointState {
  std::int64_t step = 0;            // optimizer steps taken, through all phases
  int phase = 0;                    // of the step taken last
  std::int64_t samples = 0;         // sequences trained on
  std::int64_t passed_over = 0;     // batches of this phase with which no step was taken
  TextIdentity text;                // that was trained on; unknown in format 2
  VocabularyIdentity vocabulary;    // whose tokens the ids are; unknown where an older version wrote it
  std::vector<std::string> labels;  // that the head's outputs stand for; none where they have no names
  ParallelLayout layout;            // the one it was written by
  LossScalerState loss_scaler;
  bool target_reached = false;  // the run had reached its goal: nothing is left to do
  BestCheckpoint best;          // of this one and those before it; unknown where the run keeps none
  Origin origin;              // the checkpoint that its first weights are of; unknown where they are of none
  QuantisedInputs quantised;  // of a training that rounds them
  JobSpec spec;
  nlohmann::json
      products;  // how they are computed (worker/train/product_timing.h); null where no time chooses
};

// One rank's file. Its record `rank-00000.json` describes it while a save is under way, and the manifest
// afterwards.
struct CheckpointPart {
  FileDigest digest;
  std::vector<Piece> pieces;
};

struct CheckpointManifest {
  CheckpointState state;
  std::map<std::string, CheckpointPart> files;
  std::string xxh3 = {};  // of all this, as it was written; "" before that

  std::int64_t bytes() const;  // of all files
};

nlohmann::json to_json(const CheckpointPart& part);
CheckpointPart checkpoint_part_from_json(const nlohmann::json& json);
std::string manifest_text(const CheckpointManifest& manifest);

// The manifest is of a version that this program does not read.
struct UnknownCheckpointVersion : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws std::exception saying what is wrong with it.
CheckpointManifest parse_manifest(const std::string& text);
CheckpointManifest read_manifest(const std::filesystem::path& checkpoint);
// Throws std::runtime_error naming the file that is missing or not as it was saved.
void verify_file(const std::filesystem::path& checkpoint, const std::string& name,
                 const FileDigest& expected);

// A tensor's kind is this, or the name of an OptimizerState.
inline constexpr char kWeights[] = "weights";
std::string tensor_name(const std::string& kind, const Piece& piece);
std::vector<std::int64_t> tensor_shape(const Piece& piece);

inline constexpr char kManifestName[] = "manifest.json";
std::string checkpoint_name(std::int64_t step);  // "step-00000200"
std::int64_t step_of(const std::string& checkpoint_name);
std::string part_name(int rank);    // "rank-00003.safetensors"
std::string record_name(int rank);  // "rank-00003.json"
// Names of the checkpoints in `folder`, newest first.
std::vector<std::string> checkpoints_in(const std::filesystem::path& folder);

}  // namespace podium
