// Reads whole weights from a checkpoint, whatever layout wrote it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/model/spec.h"
#include "worker/checkpoint/manifest.h"
#include "worker/checkpoint/reader.h"
#include "worker/formats/full_tensors.h"
#include "worker/nn/families/family.h"

namespace podium {

// The model as it was trained. Its vocabulary size is that of the weights, because a spec may leave it to the
// tokenizer.
ModelSpec model_of(const CheckpointManifest& manifest);
// Its head. Classes of a version that kept no labels have none but their numbers.
ModelHead head_of(const CheckpointManifest& manifest);

// One parameter, whole. Throws as the reader does.
FullTensor read_full_weight(CheckpointReader& reader, const std::string& name,
                            const std::vector<std::int64_t>& shape);

// Every parameter of `model`, under our names. Throws as the reader does.
std::vector<FullTensor> read_full_weights(const std::filesystem::path& checkpoint,
                                          const CheckpointManifest& manifest, const ModelSpec& model);

}  // namespace podium
