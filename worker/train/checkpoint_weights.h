// The model in a checkpoint, whole, whatever layout wrote it.
#pragma once

#include <filesystem>
#include <vector>

#include "common/model/spec.h"
#include "worker/train/checkpoint_format.h"
#include "worker/train/full_tensors.h"

namespace podium {

// As it was trained: a vocabulary that the spec left to the tokenizer is that of the weights.
ModelSpec model_of(const CheckpointManifest& manifest);

// Every parameter of `model`, under our names. Throws std::runtime_error where a file is not as the manifest
// says or holds another model.
std::vector<FullTensor> read_full_weights(const std::filesystem::path& checkpoint,
                                          const CheckpointManifest& manifest, const ModelSpec& model);

}  // namespace podium
