// Models as Hugging Face's transformers keeps them: a folder with config.json and model.safetensors, or
// several files and model.safetensors.index.json. BERT for pre-training and GPT-2; their heads are tied to
// the word embeddings. Whatever does not fit throws BadData naming the file and the tensor or key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/model/spec.h"
#include "worker/formats/full_tensors.h"
#include "worker/nn/parameters.h"

namespace podium {

// The model config.json describes; `preset` and `init` stay empty.
ModelSpec read_hugging_face_config(const std::filesystem::path& folder);

// Fills the parameters that `parameters` holds, whole or slices, with the folder's weights, which must be of
// the shape `spec` says. Where spec.vocab is larger than the folder's, the rows beyond keep the values they
// have. So do BERT's heads where the folder has none; their names are returned. Ends with weights_changed().
std::vector<std::string> load_hugging_face(const std::filesystem::path& folder, const ModelSpec& spec,
                                           ParameterStore& parameters);

// The same tensors under Hugging Face's names and in its shapes: GPT's projections become [in, out], and
// query, key and value one. `full` holds every parameter of the model: weights, or gradients.
std::vector<FullTensor> to_hugging_face(const ModelSpec& spec, const std::vector<FullTensor>& full);

// Whence parameters come one at a time, whole.
using TensorSource =
    std::function<FullTensor(const std::string& name, const std::vector<std::int64_t>& shape)>;
// From memory: `full` must outlive it and holds every parameter that is asked for.
TensorSource source_of(const std::vector<FullTensor>& full);

// Writes config.json and the weights, in several files where they are larger than `shard_bytes`; the folder
// is made, and must not hold a model already. Of the weights no more is in memory than goes into one tensor.
void write_hugging_face(const std::filesystem::path& folder, const ModelSpec& spec,
                        const TensorSource& source, std::int64_t shard_bytes);

}  // namespace podium
