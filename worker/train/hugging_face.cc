#include "worker/train/hugging_face.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/base/check.h"
#include "common/base/file.h"
#include "worker/data/bad_data.h"
#include "worker/train/checkpoint_pieces.h"
#include "worker/train/hugging_face_config.h"
#include "worker/train/hugging_face_folder.h"
#include "worker/train/hugging_face_names.h"
#include "worker/train/safetensors.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using Place = HuggingFaceFolder::Place;

[[noreturn]] void refuse(const Place& place, const std::string& what) {
  throw BadData(place.file->path().string() + ": the tensor \"" + place.name + "\" " + what);
}

void check_same_model(const fs::path& folder, const ModelSpec& spec) {
  const ModelSpec found = read_hugging_face_config(folder);
  const auto check = [&](const char* what, auto theirs, auto ours) {
    if (theirs != ours)
      throw BadData(fmt::format("{}: {} is {} there and {} in the spec's model",
                                (folder / "config.json").string(), what, theirs, ours));
  };
  check("the family", to_string(found.family), to_string(spec.family));
  check("the number of layers", found.layers, spec.layers);
  check("the hidden size", found.hidden, spec.hidden);
  check("the number of heads", found.heads, spec.heads);
  check("the intermediate size", found.intermediate, spec.intermediate);
  check("the number of positions", found.max_positions, spec.max_positions);
  if (found.vocab > spec.vocab) check("the vocabulary", found.vocab, spec.vocab);
}

void check_no_strangers(const HuggingFaceFolder& folder, const std::vector<HuggingFaceEntry>& entries,
                        ModelFamily family) {
  std::set<std::string_view> known{tied_name(family)};
  for (const HuggingFaceEntry& entry : entries) known.insert(entry.name);
  for (const auto& [name, place] : folder.tensors())
    if (!known.contains(name)) refuse(place, "is no part of the model that config.json describes");
}

// The entry's shape, but for tokens that the file does not know.
void check_shape(const HuggingFaceEntry& entry, const Place& place) {
  const std::vector<std::int64_t>& found = place.file->at(place.name).shape;
  std::vector<std::int64_t> expected = entry.shape;
  if (entry.by_token && !found.empty() && found[0] <= expected[0]) expected[0] = found[0];
  if (found != expected)
    refuse(place, fmt::format("is of shape [{}]; the model's is [{}]", fmt::join(found, ", "),
                              fmt::join(entry.shape, ", ")));
}

bool holds_any(const ParameterStore& parameters, const HuggingFaceEntry& entry) {
  return std::ranges::any_of(entry.parameters,
                             [&](const std::string& name) { return parameters.find(name) != nullptr; });
}

// Into what `parameters` holds of it. A tensor by token may end early: the elements beyond stay.
void place_part(const FullTensor& part, ParameterStore& parameters) {
  const Parameter* parameter = parameters.find(part.name);
  if (parameter == nullptr) return;
  const Piece to = whole_piece(*parameter);
  PODIUM_CHECK(to.box.full == part.shape, "the model is of the shape the spec says: " + part.name);
  const Piece from{part.name, whole_box(part.shape), 0, static_cast<std::int64_t>(part.values.size())};
  copy_runs(common_runs(from, to), part.values, parameters.weights(*parameter), parameters.memory());
}

// A head's weight that is kept beside the embeddings must equal them: ours are one.
void check_tied(const HuggingFaceFolder& folder, ModelFamily family) {
  const Place* tied = folder.find(std::string(tied_name(family)));
  const Place* embeddings = folder.find(std::string(embeddings_name(family)));
  if (tied == nullptr) return;
  if (tied->file->read_floats(tied->name) != embeddings->file->read_floats(embeddings->name))
    refuse(*tied, "differs from the word embeddings; podium-worker trains models that share them");
}

const FullTensor& find(const std::map<std::string_view, const FullTensor*>& full, const std::string& name) {
  const auto found = full.find(name);
  PODIUM_CHECK(found != full.end(), "every parameter of the model is given: " + name);
  return *found->second;
}

// How many tensors, from the first on, go into each file.
std::vector<std::size_t> shard_sizes(const std::vector<FullTensor>& tensors, std::int64_t shard_bytes) {
  std::vector<std::size_t> counts;
  std::int64_t used = 0;
  for (const FullTensor& tensor : tensors) {
    const auto bytes = static_cast<std::int64_t>(tensor.values.size() * sizeof(float));
    if (counts.empty() || used + bytes > shard_bytes) {
      counts.push_back(0);
      used = 0;
    }
    ++counts.back();
    used += bytes;
  }
  return counts;
}

void write_weights(const fs::path& folder, const std::vector<FullTensor>& tensors, std::int64_t shard_bytes) {
  const std::vector<std::size_t> counts = shard_sizes(tensors, shard_bytes);
  nlohmann::json weight_map = nlohmann::json::object();
  std::size_t next = 0, total = 0;
  for (std::size_t shard = 0; shard < counts.size(); ++shard) {
    const std::string name = counts.size() == 1
                                 ? "model.safetensors"
                                 : fmt::format("model-{:05}-of-{:05}.safetensors", shard + 1, counts.size());
    std::vector<TensorEntry> entries;
    for (const FullTensor& tensor : std::span(tensors).subspan(next, counts[shard])) {
      entries.push_back({tensor.name, "F32", tensor.shape, std::as_bytes(std::span(tensor.values))});
      weight_map[tensor.name] = name;
      total += tensor.values.size() * sizeof(float);
    }
    write_safetensors(folder / name, std::move(entries), {{"format", "pt"}});
    next += counts[shard];
  }
  if (counts.size() == 1) return;
  const nlohmann::json index{{"metadata", {{"total_size", total}}}, {"weight_map", weight_map}};
  write_file_atomic(folder / "model.safetensors.index.json", index.dump(2) + "\n");
}

}  // namespace

std::vector<std::string> load_hugging_face(const fs::path& folder, const ModelSpec& spec,
                                           ParameterStore& parameters) {
  check_same_model(folder, spec);
  const std::vector<HuggingFaceEntry> entries = hugging_face_entries(spec);
  const HuggingFaceFolder files(folder, spec.family);
  check_no_strangers(files, entries, spec.family);
  std::vector<std::string> absent;
  for (const HuggingFaceEntry& entry : entries) {
    const Place* place = files.find(entry.name);
    if (place == nullptr && !entry.optional)
      throw BadData(folder.string() + ": there is no tensor \"" + entry.name + "\"");
    if (place == nullptr) {
      absent.push_back(entry.name);
      continue;
    }
    check_shape(entry, *place);
    if (!holds_any(parameters, entry)) continue;
    for (const FullTensor& part : split_entry(entry, place->file->read_floats(place->name)))
      place_part(part, parameters);
  }
  if (parameters.find(embeddings_name(spec.family)) != nullptr) check_tied(files, spec.family);
  parameters.weights_changed();
  return absent;
}

std::vector<FullTensor> to_hugging_face(const ModelSpec& spec, const std::vector<FullTensor>& full) {
  std::map<std::string_view, const FullTensor*> by_name;
  for (const FullTensor& tensor : full) by_name.emplace(tensor.name, &tensor);
  std::vector<FullTensor> result;
  for (const HuggingFaceEntry& entry : hugging_face_entries(spec)) {
    std::vector<const FullTensor*> parts;
    for (const std::string& name : entry.parameters) {
      parts.push_back(&find(by_name, name));
      PODIUM_CHECK(parts.back()->shape == entry.parameter_shape(),
                   "a tensor is of the shape the spec says: " + name);
    }
    result.push_back(join_entry(entry, parts));
  }
  return result;
}

void write_hugging_face(const fs::path& folder, const ModelSpec& spec, const std::vector<FullTensor>& full,
                        std::int64_t shard_bytes) {
  fs::create_directories(folder);
  for (const char* name : {"config.json", "model.safetensors", "model.safetensors.index.json"})
    if (fs::exists(folder / name))
      throw BadData((folder / name).string() + " exists already; choose another folder");
  write_weights(folder, to_hugging_face(spec, full), shard_bytes);
  write_file_atomic(folder / "config.json", hugging_face_config(spec));
}

}  // namespace podium
