#include "worker/checkpoint/weights.h"

#include "worker/formats/hugging_face_names.h"
#include "worker/input/bad_data.h"
#include "worker/nn/families/family.h"

namespace podium {

ModelSpec model_of(const CheckpointManifest& manifest) {
  const JobSpec& spec = manifest.state.spec;
  if (spec.training.task == TrainingTask::classify)
    throw BadData("the checkpoint of job \"" + spec.name +
                  "\" was trained for classify; only models with the heads of pre-training and of question "
                  "answering can "
                  "be exported or computed yet");
  ModelSpec model = spec.model;
  for (const auto& [name, part] : manifest.files)
    for (const Piece& piece : part.pieces)
      if (piece.parameter == family_of(model).names.word) model.vocab = static_cast<int>(piece.box.full[0]);
  return model;
}

FullTensor read_full_weight(CheckpointReader& reader, const std::string& name,
                            const std::vector<std::int64_t>& shape) {
  const Box box = whole_box(shape);
  FullTensor tensor{name, shape, std::vector<float>(static_cast<std::size_t>(box.size()))};
  const WantedPiece wanted{kWeights, {name, box, 0, box.size()}, tensor.values};
  reader.read({&wanted, 1});
  return tensor;
}

std::vector<FullTensor> read_full_weights(const std::filesystem::path& checkpoint,
                                          const CheckpointManifest& manifest, const ModelSpec& model) {
  CheckpointReader reader(checkpoint, manifest);
  std::vector<FullTensor> full;
  for (const HuggingFaceEntry& entry : hugging_face_entries(model, manifest.state.spec.training.task))
    for (const std::string& name : entry.parameters)
      full.push_back(read_full_weight(reader, name, entry.parameter_shape()));
  return full;
}

}  // namespace podium
