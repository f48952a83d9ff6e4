#include "worker/formats/hugging_face.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/base/check.h"
#include "common/base/file.h"
#include "common/model/shape_differences.h"
#include "worker/formats/hugging_face_config.h"
#include "worker/formats/hugging_face_folder.h"
#include "worker/formats/pieces.h"
#include "worker/formats/safetensors.h"
#include "worker/input/bad_data.h"
#include "worker/nn/families/family.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using Place = HuggingFaceFolder::Place;

[[noreturn]] void refuse(const Place& place, const std::string& what) {
  throw BadData(place.file->path().string() + ": the tensor \"" + place.name + "\" " + what);
}

void check_same_model(const fs::path& folder, const ModelSpec& spec) {
  const ModelSpec found = read_hugging_face_config(folder);
  if (const auto differences = shape_differences(found, spec); !differences.empty())
    throw BadData((folder / "config.json").string() + ": the models differ: " + describe(differences));
}

void check_no_strangers(const HuggingFaceFolder& folder, const std::vector<HuggingFaceEntry>& entries,
                        const ModelSpec& spec) {
  std::set<std::string_view> known{family_of(spec).hugging_face.tied};
  for (const HuggingFaceEntry& entry : entries) known.insert(entry.name);
  for (const auto& [name, place] : folder.tensors())
    if (!known.contains(name) && !is_of_head(spec, name))
      refuse(place, "is no part of the model that config.json describes");
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
  const Place* tied = folder.find(std::string(family_of(family).hugging_face.tied));
  const Place* embeddings = folder.find(std::string(family_of(family).names.word));
  if (tied == nullptr) return;
  if (tied->file->read_floats(tied->name) != embeddings->file->read_floats(embeddings->name))
    refuse(*tied, "differs from the word embeddings; podium-worker trains models that share them");
}

// As the folder keeps it.
FullTensor tensor_of(const HuggingFaceEntry& entry, const TensorSource& source) {
  std::vector<FullTensor> parts;
  for (const std::string& name : entry.parameters) parts.push_back(source(name, entry.parameter_shape()));
  return join_entry(entry, std::move(parts));
}

TensorEntry entry_in_file(const HuggingFaceEntry& entry) { return {entry.name, "F32", entry.shape, {}}; }

// How many tensors, from the first on, go into each file.
std::vector<std::size_t> shard_sizes(const std::vector<HuggingFaceEntry>& tensors, std::int64_t shard_bytes) {
  std::vector<std::size_t> counts;
  std::int64_t used = 0;
  for (const HuggingFaceEntry& tensor : tensors) {
    const auto bytes = static_cast<std::int64_t>(entry_in_file(tensor).size());
    if (counts.empty() || used + bytes > shard_bytes) {
      counts.push_back(0);
      used = 0;
    }
    ++counts.back();
    used += bytes;
  }
  return counts;
}

void write_shard(const fs::path& path, std::span<const HuggingFaceEntry> tensors,
                 const TensorSource& source) {
  std::map<std::string_view, const HuggingFaceEntry*> by_name;
  std::vector<TensorEntry> entries;
  for (const HuggingFaceEntry& tensor : tensors) {
    by_name.emplace(tensor.name, &tensor);
    entries.push_back(entry_in_file(tensor));
  }
  const auto write = [&](const TensorEntry& entry, HashedFile& file) {
    const FullTensor tensor = tensor_of(*by_name.at(entry.name), source);
    file.write(std::as_bytes(std::span(tensor.values)));
  };
  write_safetensors(path, std::move(entries), {{"format", "pt"}}, write);
}

void refuse_quantised(const fs::path& folder) {
  if (fs::exists(folder / kQuantisationFile))
    throw BadData(folder.string() + " is quantised, for inference alone; use the model that it was made of");
}

// False also where the folder's labels cannot be read: its encoder is of use without them.
bool has_same_labels(const fs::path& folder, const ModelHead& head) {
  try {
    return labels_agree(read_hugging_face_head(folder), head);
  } catch (const BadData&) {
    return false;
  }
}

std::string predicted_by(const ModelHead& head) {
  return head.labels.empty() ? "a value" : fmt::format("{}", fmt::join(head.labels, ", "));
}

// Under temporary names until all are written; of what fails nothing stays.
class UnfinishedFiles {
 public:
  explicit UnfinishedFiles(const fs::path& folder) : folder_(folder) {}
  UnfinishedFiles(const UnfinishedFiles&) = delete;
  UnfinishedFiles& operator=(const UnfinishedFiles&) = delete;
  ~UnfinishedFiles() {
    std::error_code ignored;  // what cannot be removed keeps a name that nobody reads
    for (const std::string& name : names_) fs::remove(unfinished(name), ignored);
  }

  fs::path add(const std::string& name) {
    names_.push_back(name);
    return unfinished(name);
  }
  void finish() {
    for (const std::string& name : names_) fs::rename(unfinished(name), folder_ / name);
    names_.clear();
  }

 private:
  fs::path unfinished(const std::string& name) const { return folder_ / ("." + name + ".unfinished"); }

  fs::path folder_;
  std::vector<std::string> names_;
};

void write_weights(const fs::path& folder, const ModelSpec& spec, const TensorSource& source,
                   std::int64_t shard_bytes, const ModelHead& head) {
  const std::vector<HuggingFaceEntry> tensors = hugging_face_entries(spec, head);
  const std::vector<std::size_t> counts = shard_sizes(tensors, shard_bytes);
  nlohmann::json weight_map = nlohmann::json::object();
  std::size_t next = 0, total = 0;
  UnfinishedFiles files(folder);
  for (std::size_t shard = 0; shard < counts.size(); ++shard) {
    const std::string name = counts.size() == 1
                                 ? "model.safetensors"
                                 : fmt::format("model-{:05}-of-{:05}.safetensors", shard + 1, counts.size());
    const auto own = std::span(tensors).subspan(next, counts[shard]);
    for (const HuggingFaceEntry& tensor : own) {
      weight_map[tensor.name] = name;
      total += entry_in_file(tensor).size();
    }
    write_shard(files.add(name), own, source);
    next += counts[shard];
  }
  files.finish();
  if (counts.size() == 1) return;
  const nlohmann::json index{{"metadata", {{"total_size", total}}}, {"weight_map", weight_map}};
  write_file_atomic(folder / "model.safetensors.index.json", index.dump(2) + "\n");
}

}  // namespace

bool labels_agree(const ModelHead& theirs, const ModelHead& ours) {
  if (theirs.task != ours.task || theirs.labels.size() != ours.labels.size()) return false;
  if (theirs.labels == ours.labels) return true;
  for (std::size_t number = 0; number < theirs.labels.size(); ++number)
    if (theirs.labels[number] != unnamed_label(number)) return false;
  return true;
}

std::string why_labels_differ(const fs::path& folder, const ModelHead& ours) {
  try {
    const ModelHead theirs = read_hugging_face_head(folder);
    if (theirs.task != ours.task || labels_agree(theirs, ours)) return "";
    return fmt::format("the head of {} predicts {} and that of this job {}", folder.string(),
                       predicted_by(theirs), predicted_by(ours));
  } catch (const BadData& error) {
    return error.what();
  }
}

void check_hugging_face_shapes(const fs::path& folder, const ModelSpec& spec, const ModelHead& head) {
  refuse_quantised(folder);
  const HuggingFaceFolder files(folder, spec.family);
  for (const HuggingFaceEntry& entry : hugging_face_entries(spec, head))
    if (const Place* place = files.find(entry.name); place != nullptr && !entry.by_label)
      if (const auto& found = place->file->at(place->name).shape; found != entry.shape)
        refuse(*place, fmt::format("is of shape [{}], and what config.json describes of [{}]",
                                   fmt::join(found, ", "), fmt::join(entry.shape, ", ")));
}

std::vector<std::string> load_hugging_face(const fs::path& folder, const ModelSpec& spec,
                                           ParameterStore& parameters, const ModelHead& head) {
  refuse_quantised(folder);
  check_same_model(folder, spec);
  const std::vector<HuggingFaceEntry> entries = hugging_face_entries(spec, head);
  const HuggingFaceFolder files(folder, spec.family);
  check_no_strangers(files, entries, spec);
  const bool has_labels = std::ranges::any_of(entries, &HuggingFaceEntry::by_label);
  const bool same_labels = !has_labels || has_same_labels(folder, head);
  std::vector<std::string> absent;
  for (const HuggingFaceEntry& entry : entries) {
    const Place* place = entry.by_label && !same_labels ? nullptr : files.find(entry.name);
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
  if (ties_embeddings(spec) && parameters.find(family_of(spec).names.word) != nullptr)
    check_tied(files, spec.family);
  parameters.weights_changed();
  return absent;
}

TensorSource source_of(const std::vector<FullTensor>& full) {
  std::map<std::string_view, const FullTensor*> by_name;
  for (const FullTensor& tensor : full) by_name.emplace(tensor.name, &tensor);
  return [by_name = std::move(by_name)](const std::string& name, const std::vector<std::int64_t>& shape) {
    const auto found = by_name.find(name);
    PODIUM_CHECK(found != by_name.end(), "every parameter of the model is given: " + name);
    PODIUM_CHECK(found->second->shape == shape, "a tensor is of the shape the spec says: " + name);
    return *found->second;
  };
}

std::vector<FullTensor> to_hugging_face(const ModelSpec& spec, const std::vector<FullTensor>& full) {
  const TensorSource source = source_of(full);
  std::vector<FullTensor> result;
  for (const HuggingFaceEntry& entry : hugging_face_entries(spec)) result.push_back(tensor_of(entry, source));
  return result;
}

void write_hugging_face(const fs::path& folder, const ModelSpec& spec, const TensorSource& source,
                        std::int64_t shard_bytes, const ModelHead& head) {
  fs::create_directories(folder);
  for (const char* name : {"config.json", "model.safetensors", "model.safetensors.index.json"})
    if (fs::exists(folder / name))
      throw BadData((folder / name).string() + " exists already; choose another folder");
  write_weights(folder, spec, source, shard_bytes, head);
  write_file_atomic(folder / "config.json", hugging_face_config(spec, head));
}

}  // namespace podium
