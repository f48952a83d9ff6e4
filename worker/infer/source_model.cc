#include "worker/infer/source_model.h"

#include <algorithm>

#include "common/base/check.h"
#include "worker/checkpoint/reader.h"
#include "worker/checkpoint/weights.h"
#include "worker/formats/hugging_face.h"
#include "worker/formats/hugging_face_names.h"
#include "worker/formats/pieces.h"
#include "worker/infer/quantised_folder.h"
#include "worker/input/bad_data.h"
#include "worker/nn/families/family.h"
#include "worker/nn/parameters.h"
#include "worker/tokenizer/load_tokenizer.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr float kRandomRange = 0.05F;  // of random weights, either side of 0

// All parameters of the model, in host memory.
void declare_parameters(const SourceModel& model, ParameterStore& store) {
  for (const HuggingFaceEntry& entry : hugging_face_entries(model.spec, model.task)) {
    Shape shape{entry.shape[0]};
    if (entry.shape.size() == 2) shape = Shape{entry.shape[0], entry.shape[1]};
    store.add(entry.name, shape, Initializer::zeros, false);
  }
  store.allocate();
}

void take_tensors(const ParameterStore& store, const std::vector<std::string>& absent, SourceModel& model) {
  for (const HuggingFaceEntry& entry : hugging_face_entries(model.spec, model.task)) {
    if (std::ranges::find(absent, entry.name) != absent.end()) continue;
    const auto values = store.weights(*store.find(entry.name));
    model.tensors[entry.name] = {entry.name, entry.shape, {values.begin(), values.end()}};
  }
}

TokenizerSource tokenizer_beside(const fs::path& folder) {
  return {.what = holds_tokenizer(folder) ? folder.string() : ""};
}

SourceModel read_hugging_face_model(const fs::path& folder) {
  SourceModel model{.origin = folder.string(),
                    .spec = read_hugging_face_config(folder),
                    .task = read_hugging_face_task(folder),
                    .tokenizer = tokenizer_beside(folder)};
  check_family(folder, model.spec);
  ParameterStore store;
  declare_parameters(model, store);
  take_tensors(store, load_hugging_face(folder, model.spec, store, model.task), model);
  return model;
}

SourceModel read_checkpoint_model(const fs::path& folder, const fs::path& data_folder) {
  const CheckpointManifest manifest = read_whole_checkpoint(folder);
  SourceModel model{
      .origin = folder.string(), .spec = model_of(manifest), .task = manifest.state.spec.training.task};
  check_family(folder, model.spec);
  const TokenizerSpec& tokenizer = manifest.state.spec.data.tokenizer;
  if (fs::exists(data_folder / tokenizer.wordpiece) && !tokenizer.wordpiece.empty())
    model.tokenizer = wordpiece_source(data_folder / tokenizer.wordpiece, tokenizer.lowercase);
  try {
    for (FullTensor& tensor : read_full_weights(folder, manifest, model.spec)) {
      const std::string name = tensor.name;
      model.tensors[name] = std::move(tensor);
    }
  } catch (const std::runtime_error& error) {
    throw BadData(error.what());
  }
  return model;
}

}  // namespace

const std::vector<float>& SourceModel::values(const std::string& name) const {
  const auto found = tensors.find(name);
  PODIUM_CHECK(found != tensors.end(), "the model was read whole: " + name);
  return found->second.values;
}

void check_family(const fs::path& folder, const ModelSpec& spec) {
  if (spec.family != ModelFamily::bert)
    throw BadData(folder.string() + " is a " + std::string(to_string(spec.family)) +
                  " model; inference knows bert only");
}

TokenizerSource wordpiece_source(const fs::path& vocabulary, bool lowercase) {
  return {std::string(kWordPiecePrefix) + vocabulary.string(), lowercase};
}

bool can_be_sparse(const ModelSpec& spec) {
  constexpr int kMultiple = 8;
  return spec.hidden % kMultiple == 0 && spec.intermediate % kMultiple == 0;
}

std::array<EncoderProduct, 4> encoder_products(const ModelSpec& spec, int layer) {
  const auto name = [&](std::string_view FamilyNames::*part) { return name_in_layer(spec, layer, part); };
  const std::string query = name(&FamilyNames::query), output = name(&FamilyNames::attention_output),
                    expand = name(&FamilyNames::expand), contract = name(&FamilyNames::contract);
  const std::int64_t hidden = spec.hidden, inner = spec.intermediate;
  return {{{query + "_key_value",
            {query, name(&FamilyNames::key), name(&FamilyNames::value)},
            3 * hidden,
            hidden},
           {output, {output}, hidden, hidden},
           {expand, {expand}, inner, hidden},
           {contract, {contract}, hidden, inner}}};
}

ProductValues product_values(const SourceModel& model, const EncoderProduct& product) {
  ProductValues result;
  for (const std::string& layer : product.layers) {
    const std::vector<float>&weight = model.values(layer + ".weight"), &bias = model.values(layer + ".bias");
    result.weight.insert(result.weight.end(), weight.begin(), weight.end());
    result.bias.insert(result.bias.end(), bias.begin(), bias.end());
  }
  return result;
}

SourceModel read_source_model(const fs::path& folder, const fs::path& data_folder) {
  if (fs::exists(folder / kQuantisationFile)) {
    SourceModel model = read_quantised_folder(folder);
    model.tokenizer = tokenizer_beside(folder);
    return model;
  }
  if (fs::exists(folder / "manifest.json")) return read_checkpoint_model(folder, data_folder);
  if (fs::exists(folder / "config.json")) return read_hugging_face_model(folder);
  throw BadData(folder.string() +
                " is no model: neither a Hugging Face folder (config.json), nor a checkpoint such as "
                "checkpoints/step-00000200 (manifest.json), nor what podium-worker calibrate makes (" +
                kQuantisationFile + ")");
}

SourceModel random_source_model(const ModelSpec& spec) {
  SourceModel model{.origin = "random weights", .spec = spec};
  std::uint32_t state = 1;
  for (const HuggingFaceEntry& entry : hugging_face_entries(spec)) {
    FullTensor& tensor = model.tensors[entry.name];
    tensor = {entry.name, entry.shape, {}};
    tensor.values.resize(static_cast<std::size_t>(whole_box(entry.shape).size()));
    for (float& value : tensor.values) {  // Numerical Recipes' generator: quick, for nobody reads the results
      state = state * 1664525U + 1013904223U;
      value = static_cast<float>(static_cast<std::int32_t>(state)) * (0x1p-31F * kRandomRange);
    }
  }
  return model;
}

}  // namespace podium
