#include "worker/infer/source_model.h"

#include <spdlog/fmt/fmt.h>

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
#include "worker/nn/layer_products.h"
#include "worker/nn/parameters.h"
#include "worker/tokenizer/load_tokenizer.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr float kRandomRange = 0.05F;  // of random weights, either side of 0

// All parameters of the model, in host memory.
void declare_parameters(const SourceModel& model, ParameterStore& store) {
  for (const HuggingFaceEntry& entry : hugging_face_entries(model.spec, model.head)) {
    const std::vector<std::int64_t> extents = entry.parameter_shape();
    const Shape shape = extents.size() == 2 ? Shape{extents[0], extents[1]} : Shape{extents[0]};
    for (const std::string& name : entry.parameters) store.add(name, shape, Initializer::zeros, false);
  }
  store.allocate();
}

void take_tensors(const ParameterStore& store, const std::vector<std::string>& absent, SourceModel& model) {
  for (const HuggingFaceEntry& entry : hugging_face_entries(model.spec, model.head)) {
    if (std::ranges::find(absent, entry.name) != absent.end()) continue;
    for (const std::string& name : entry.parameters) {
      const auto values = store.weights(*store.find(name));
      model.tensors[name] = {name, entry.parameter_shape(), {values.begin(), values.end()}};
    }
  }
}

TokenizerSource tokenizer_beside(const fs::path& folder) {
  return {.what = holds_tokenizer(folder) ? folder.string() : ""};
}

SourceModel find_hugging_face_model(const fs::path& folder) {
  return {.origin = folder.string(),
          .folder = folder,
          .spec = read_hugging_face_config(folder),
          .head = read_hugging_face_head(folder),
          .tokenizer = tokenizer_beside(folder)};
}

void read_hugging_face_tensors(SourceModel& model) {
  // Before memory is taken for what config.json says.
  check_hugging_face_shapes(model.folder, model.spec, model.head);
  ParameterStore store;
  declare_parameters(model, store);
  take_tensors(store, load_hugging_face(model.folder, model.spec, store, model.head), model);
}

// That of a run whose paths begin at `data_folder`; none where it is not there.
TokenizerSource tokenizer_of_run(const TokenizerSpec& spec, const fs::path& data_folder) {
  if (!spec.wordpiece.empty()) {
    const fs::path vocabulary = data_folder / spec.wordpiece;
    return fs::exists(vocabulary) ? wordpiece_source(vocabulary, spec.lowercase) : TokenizerSource{};
  }
  const fs::path vocabulary = data_folder / spec.bpe_vocab, merges = data_folder / spec.bpe_merges;
  if (spec.bpe_vocab.empty() || !fs::exists(vocabulary) || !fs::exists(merges)) return {};
  return {.what = "bpe:" + vocabulary.string() + "," + merges.string()};
}

SourceModel find_checkpoint_model(const fs::path& folder, const CheckpointManifest& manifest,
                                  const fs::path& data_folder) {
  return {.origin = folder.string(),
          .folder = folder,
          .spec = model_of(manifest),
          .head = head_of(manifest),
          .tokenizer = tokenizer_of_run(manifest.state.spec.data.tokenizer, data_folder),
          .checkpoint = manifest};
}

void read_checkpoint_tensors(SourceModel& model) {
  try {
    for (FullTensor& tensor : read_full_weights(model.folder, *model.checkpoint, model.spec)) {
      const std::string name = tensor.name;
      model.tensors[name] = std::move(tensor);
    }
  } catch (const std::runtime_error& error) {
    throw BadData(error.what());
  }
}

}  // namespace

const std::vector<float>& SourceModel::values(const std::string& name) const {
  const auto found = tensors.find(name);
  PODIUM_CHECK(found != tensors.end(), "the model was read whole: " + name);
  return found->second.values;
}

void check_family(const fs::path& folder, const ModelSpec& spec) {
  if (spec.family != ModelFamily::bert)
    throw BadData(
        fmt::format("{} is a {} model, and this is for bert; podium-worker generate writes text with it",
                    folder.string(), to_string(spec.family)));
}

TokenizerSource wordpiece_source(const fs::path& vocabulary, bool lowercase) {
  return {std::string(kWordPiecePrefix) + vocabulary.string(), lowercase};
}

bool can_be_sparse(const ModelSpec& spec) {
  constexpr int kMultiple = 8;
  return spec.hidden % kMultiple == 0 && spec.intermediate % kMultiple == 0;
}

std::array<EncoderProduct, 4> encoder_products(const ModelSpec& spec, int layer) {
  const auto part = [&](std::string_view FamilyNames::*name) { return name_in_layer(spec, layer, name); };
  const std::int64_t hidden = spec.hidden, inner = spec.intermediate;
  const LayerProducts number = layer_products(layer);
  return {
      {{product_name(spec, number.query_key_value),
        {part(&FamilyNames::query), part(&FamilyNames::key), part(&FamilyNames::value)},
        3 * hidden,
        hidden},
       {product_name(spec, number.attention_output), {part(&FamilyNames::attention_output)}, hidden, hidden},
       {product_name(spec, number.expand), {part(&FamilyNames::expand)}, inner, hidden},
       {product_name(spec, number.contract), {part(&FamilyNames::contract)}, hidden, inner}}};
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

SourceModel find_source_model(const fs::path& folder, const fs::path& data_folder) {
  if (fs::exists(folder / kQuantisationFile)) {
    SourceModel model = read_quantised_folder(folder);
    model.folder = folder;
    model.tokenizer = tokenizer_beside(folder);
    return model;
  }
  fs::path found = folder;
  if (const std::optional<CheckpointManifest> manifest = find_checkpoint(found))
    return find_checkpoint_model(found, *manifest, data_folder);
  return find_hugging_face_model(folder);
}

void read_tensors(SourceModel& model) {
  if (model.quantised_to) return;
  if (model.checkpoint)
    read_checkpoint_tensors(model);
  else
    read_hugging_face_tensors(model);
}

SourceModel read_source_model(const fs::path& folder, const fs::path& data_folder) {
  SourceModel model = find_source_model(folder, data_folder);
  read_tensors(model);
  return model;
}

SourceModel random_source_model(const ModelSpec& spec) {
  SourceModel model{.origin = "random weights", .spec = spec};
  std::uint32_t state = 1;
  for (const HuggingFaceEntry& entry : hugging_face_entries(spec))
    for (const std::string& name : entry.parameters) {
      FullTensor& tensor = model.tensors[name];
      tensor = {name, entry.parameter_shape(), {}};
      tensor.values.resize(static_cast<std::size_t>(whole_box(tensor.shape).size()));
      for (float& value :
           tensor.values) {  // Numerical Recipes' generator: quick, for nobody reads the results
        state = state * 1664525U + 1013904223U;
        value = static_cast<float>(static_cast<std::int32_t>(state)) * (0x1p-31F * kRandomRange);
      }
    }
  return model;
}

}  // namespace podium
