#include "worker/evaluate/trained_model.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include "worker/checkpoint/reader.h"
#include "worker/checkpoint/weights.h"
#include "worker/data/failure.h"
#include "worker/formats/hugging_face.h"
#include "worker/input/bad_data.h"
#include "worker/tokenizer/bpe_tokenizer.h"
#include "worker/tokenizer/load_tokenizer.h"
#include "worker/tokenizer/wordpiece.h"
#include "worker/train/job_device.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

void read_checkpoint_weights(const fs::path& folder, const CheckpointManifest& manifest,
                             ParameterStore& parameters) {
  CheckpointReader reader(folder, manifest);
  for (const Parameter& parameter : parameters.list()) {
    std::vector<std::int64_t> shape;
    for (int axis = 0; axis < parameter.shape.rank(); ++axis) shape.push_back(parameter.shape[axis]);
    const FullTensor whole = read_full_weight(reader, parameter.name, shape);
    parameters.memory().upload(parameters.weights(parameter), std::span<const float>(whole.values));
  }
  parameters.weights_changed();
}

}  // namespace

TrainedModel::TrainedModel(Context& context, const fs::path& folder, Precision precision)
    : folder_(folder),
      is_checkpoint_(fs::exists(folder / "manifest.json")),
      world_(meet_world({}, context.memory)),
      groups_(make_groups(*world_, {})) {
  std::optional<CheckpointManifest> manifest;
  if (is_checkpoint_) {
    manifest = read_whole_checkpoint(folder);
    trained_with_ = manifest->state.spec.data.tokenizer;
  } else if (!fs::exists(folder / "config.json")) {
    throw BadData(folder.string() +
                  " is no model: neither a Hugging Face folder (config.json), nor a checkpoint such as "
                  "checkpoints/step-00000200 (manifest.json)");
  }
  spec_ = manifest ? model_of(*manifest) : read_hugging_face_config(folder);
  spec_.dropout = spec_.attention_dropout = 0;
  try {
    model_ = make_model(context, spec_, {.precision = precision}, groups_);
  } catch (const std::invalid_argument& error) {
    throw Failure(WorkerExit::bad_spec, error.what());
  }
  if (manifest) {
    read_checkpoint_weights(folder, *manifest, model_->parameters());
  } else if (const auto absent = load_hugging_face(folder, spec_, model_->parameters()); !absent.empty()) {
    throw BadData(fmt::format("{} has no {}: without it there is nothing to evaluate", folder.string(),
                              fmt::join(absent, ", ")));
  }
  engine_ = std::make_unique<Engine>(context, *model_, groups_);
}

std::unique_ptr<const Tokenizer> TrainedModel::load_tokenizer(const fs::path& data_folder) const {
  if (!is_checkpoint_) return load_tokenizer_folder(folder_);
  if (!trained_with_.wordpiece.empty())
    return std::make_unique<WordPieceTokenizer>(Vocabulary::load(data_folder / trained_with_.wordpiece),
                                                trained_with_.lowercase);
  return std::make_unique<BpeTokenizer>(
      BpeVocabulary::load(data_folder / trained_with_.bpe_vocab, data_folder / trained_with_.bpe_merges));
}

}  // namespace podium
