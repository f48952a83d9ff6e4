// Models as Hugging Face's transformers keeps them: a folder with config.json and model.safetensors, or
// several files and model.safetensors.index.json. BERT for pre-training, masked tokens, question answering
// and classification, GPT-2 and Llama; the heads of BERT and GPT-2 that score words are tied to the word
// embeddings, and Llama's may be. Whatever does not fit throws BadData naming the file and the tensor or key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/model/spec.h"
#include "worker/formats/full_tensors.h"
#include "worker/formats/hugging_face_names.h"
#include "worker/nn/families/family.h"
#include "worker/nn/parameters.h"

namespace podium {

// Beside config.json in a folder whose weights are in 8 bits (worker/infer/quantised_folder.h).
inline constexpr char kQuantisationFile[] = "quantization.json";

// The model config.json describes; `preset` and `init` stay empty.
ModelSpec read_hugging_face_config(const std::filesystem::path& folder);
// The head that the model has, by `architectures` in config.json and the labels there; that of pre-training
// where they name no other that is known.
ModelHead read_hugging_face_head(const std::filesystem::path& folder);

// How transformers calls a label that nobody named.
std::string unnamed_label(std::size_t number);
// Whether weights of a head with the labels `theirs` fit one with `ours`: they are the same in the same
// order, or as many where theirs have no names.
bool labels_agree(const ModelHead& theirs, const ModelHead& ours);
// Why the labels of the folder's head do not agree with `ours`; "" where they do, or where it is of another
// task.
std::string why_labels_differ(const std::filesystem::path& folder, const ModelHead& ours);

// Throws BadData where a tensor of the folder is not of the shape that `spec`, its own config.json's, says;
// one whose rows are labels may be. Reads no values.
void check_hugging_face_shapes(const std::filesystem::path& folder, const ModelSpec& spec,
                               const ModelHead& head);

// Fills the parameters in `parameters`, whole or slices, with the folder's weights, which must have the
// shapes that `spec` says. If spec.vocab is larger than the folder's, the rows beyond keep their values.
// BERT's head keeps its values if the folder has none, and a classifier if its labels do not agree; the
// function returns the names of its tensors. Heads of other tasks are left alone. Calls weights_changed().
std::vector<std::string> load_hugging_face(const std::filesystem::path& folder, const ModelSpec& spec,
                                           ParameterStore& parameters, const ModelHead& head = {});

// The same tensors under Hugging Face's names and in its shapes: GPT's projections become [in, out], and
// query, key and value one. `full` holds every parameter of the model: weights, or gradients.
std::vector<FullTensor> to_hugging_face(const ModelSpec& spec, const std::vector<FullTensor>& full);

// Returns one whole parameter.
using TensorSource =
    std::function<FullTensor(const std::string& name, const std::vector<std::int64_t>& shape)>;
// A source in memory. `full` must outlive it, and hold every parameter that is asked for.
TensorSource source_of(const std::vector<FullTensor>& full);

// Makes the folder and writes config.json and the weights, in several files if they exceed `shard_bytes`. The
// folder must not hold a model already. The weights of no more than one tensor are in memory at once.
void write_hugging_face(const std::filesystem::path& folder, const ModelSpec& spec,
                        const TensorSource& source, std::int64_t shard_bytes, const ModelHead& head = {});

}  // namespace podium
