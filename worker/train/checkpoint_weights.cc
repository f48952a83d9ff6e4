#include "worker/train/checkpoint_weights.h"

#include "worker/train/checkpoint_reader.h"
#include "worker/train/hugging_face_names.h"

namespace podium {

ModelSpec model_of(const CheckpointManifest& manifest) {
  ModelSpec model = manifest.state.spec.model;
  for (const auto& [name, part] : manifest.files)
    for (const Piece& piece : part.pieces)
      if (piece.parameter == embeddings_name(model.family)) model.vocab = static_cast<int>(piece.box.full[0]);
  return model;
}

std::vector<FullTensor> read_full_weights(const std::filesystem::path& checkpoint,
                                          const CheckpointManifest& manifest, const ModelSpec& model) {
  std::vector<FullTensor> full;
  for (const HuggingFaceEntry& entry : hugging_face_entries(model))
    for (const std::string& name : entry.parameters) {
      const std::vector<std::int64_t> shape = entry.parameter_shape();
      full.push_back({name, shape, std::vector<float>(static_cast<std::size_t>(whole_box(shape).size()))});
    }
  std::vector<WantedPiece> wanted;
  for (FullTensor& tensor : full) {
    const Box box = whole_box(tensor.shape);
    wanted.push_back({kCheckpointKinds[0], {tensor.name, box, 0, box.size()}, tensor.values});
  }
  read_pieces(checkpoint, manifest, wanted);
  return full;
}

}  // namespace podium
