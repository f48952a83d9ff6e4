#include "worker/evaluate/trained_model.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "worker/checkpoint/reader.h"
#include "worker/checkpoint/weights.h"
#include "worker/data/failure.h"
#include "worker/formats/hugging_face.h"
#include "worker/input/bad_data.h"
#include "worker/nn/families/family.h"
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

// What judges pairs of sentences may be absent, as in BertForMaskedLM.
void check_predicts_tokens(const fs::path& folder, const ModelSpec& spec, std::vector<std::string> absent) {
  if (const TokenHead* const head = family_of(spec).token_head) {
    const std::vector<HeadTensor> needed = head->tensors(spec);
    std::erase_if(absent, [&](const std::string& name) {
      return std::ranges::find(needed, name, &HeadTensor::name) == needed.end();
    });
  }
  if (!absent.empty())
    throw BadData(fmt::format("{} has no {}: without it there is nothing to evaluate", folder.string(),
                              fmt::join(absent, ", ")));
}

}  // namespace

TrainedModel::TrainedModel(Context& context, const fs::path& folder, Precision precision)
    : folder_(folder), world_(meet_world({}, context.memory)), groups_(make_groups(*world_, {})) {
  const std::optional<CheckpointManifest> manifest = find_checkpoint(folder_);
  if (manifest) {
    job_ = manifest->state.spec;
    step_ = manifest->state.step;
  }
  spec_ = manifest ? model_of(*manifest) : read_hugging_face_config(folder);
  if (manifest && family_of(spec_).find_task_head(manifest->state.spec.training.task) != nullptr)
    throw BadData(fmt::format("{} was trained for {}: it has no head that predicts tokens", folder.string(),
                              to_string(manifest->state.spec.training.task)));
  if (!manifest) check_hugging_face_shapes(folder, spec_, read_hugging_face_head(folder));
  spec_.dropout = spec_.attention_dropout = 0;
  try {
    model_ = make_model(context, spec_, {.precision = precision}, groups_);
  } catch (const std::invalid_argument& error) {
    throw Failure(WorkerExit::bad_spec, error.what());
  }
  if (manifest) {
    read_checkpoint_weights(folder_, *manifest, model_->parameters());
  } else {
    const std::vector<std::string> absent = load_hugging_face(folder, spec_, model_->parameters());
    check_predicts_tokens(folder, spec_, absent);
    judges_pairs_ = absent.empty();
  }
  engine_ = std::make_unique<Engine>(context, *model_, groups_);
}

std::unique_ptr<const Tokenizer> TrainedModel::load_tokenizer(const fs::path& data_folder) const {
  if (!job_) return load_tokenizer_folder(folder_);
  const TokenizerSpec& spec = job_->data.tokenizer;
  if (!spec.wordpiece.empty())
    return std::make_unique<WordPieceTokenizer>(Vocabulary::load(data_folder / spec.wordpiece),
                                                spec.lowercase);
  return std::make_unique<BpeTokenizer>(
      BpeVocabulary::load(data_folder / spec.bpe_vocab, data_folder / spec.bpe_merges));
}

}  // namespace podium
