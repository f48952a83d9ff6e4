#include "worker/checkpoint/weights.h"

#include "worker/formats/hugging_face.h"
#include "worker/formats/hugging_face_names.h"
#include "worker/nn/families/family.h"

namespace podium {

namespace {

// Of the whole parameter; 0 where there is none of this name.
std::int64_t rows_of(const CheckpointManifest& manifest, std::string_view parameter) {
  for (const auto& [name, part] : manifest.files)
    for (const Piece& piece : part.pieces)
      if (piece.parameter == parameter) return piece.box.full[0];
  return 0;
}

}  // namespace

ModelSpec model_of(const CheckpointManifest& manifest) {
  ModelSpec model = manifest.state.spec.model;
  if (const std::int64_t vocab = rows_of(manifest, family_of(model).names.word); vocab > 0)
    model.vocab = static_cast<int>(vocab);
  return model;
}

ModelHead head_of(const CheckpointManifest& manifest) {
  const JobSpec& spec = manifest.state.spec;
  ModelHead head(spec.training.task, manifest.state.labels);
  const TaskHead* const of_task = family_of(spec.model).find_task_head(head.task);
  if (of_task == nullptr || !of_task->has_labels) return head;
  head.pairs = spec.training.classify.pair.has_value();
  head.dropout = spec.training.classify.dropout;
  if (!head.labels.empty()) return head;
  for (const HeadTensor& tensor : of_task->tensors(spec.model, head))
    if (const std::int64_t outputs = rows_of(manifest, tensor.name); tensor.by_label && outputs > 1)
      for (std::size_t i = head.labels.size(); i < static_cast<std::size_t>(outputs); ++i)
        head.labels.push_back(unnamed_label(i));
  return head;
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
  for (const HuggingFaceEntry& entry : hugging_face_entries(model, head_of(manifest)))
    for (const std::string& name : entry.parameters)
      full.push_back(read_full_weight(reader, name, entry.parameter_shape()));
  return full;
}

}  // namespace podium
