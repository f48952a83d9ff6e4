#include "worker/train/checkpoint.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <system_error>

#include "common/base/file.h"
#include "worker/train/failure.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kFormatVersion = 1;
constexpr char kTemporaryPrefix[] = ".saving-";
constexpr char kWeights[] = "weights.safetensors";
constexpr char kOptimizer[] = "optimizer.safetensors";
constexpr char kManifest[] = "manifest.json";

std::string name_of(std::int64_t step) {
  const std::string digits = std::to_string(step);
  return "step-" + std::string(8 - std::min<std::size_t>(8, digits.size()), '0') + digits;
}

std::vector<std::int64_t> extents(const Shape& shape) {
  std::vector<std::int64_t> result;
  for (int axis = 0; axis < shape.rank(); ++axis) result.push_back(shape[axis]);
  return result;
}

template <class T>
std::span<T> part(std::span<T> all, const Parameter& parameter) {
  return all.subspan(static_cast<std::size_t>(parameter.offset), static_cast<std::size_t>(parameter.size()));
}

// One tensor for each parameter, cut out of a flat buffer.
void append_tensors(const std::string& prefix, std::span<float> flat, ParameterStore& parameters,
                    std::vector<TensorEntry>& tensors) {
  for (const Parameter& parameter : parameters.list())
    tensors.push_back(
        {prefix + parameter.name, "F32", extents(parameter.shape), std::as_bytes(part(flat, parameter))});
}

void read_tensors(const SafetensorsFile& file, const std::string& prefix, std::span<float> flat,
                  ParameterStore& parameters) {
  for (const Parameter& parameter : parameters.list())
    file.read(prefix + parameter.name, "F32", extents(parameter.shape),
              std::as_writable_bytes(part(flat, parameter)));
}

std::string manifest_text(const Manifest& manifest) {
  json files = json::object();
  for (const auto& [name, digest] : manifest.files)
    files[name] = {{"bytes", digest.bytes}, {"xxh3", digest.xxh3}};
  const TrainingState& state = manifest.state;
  return json{{"version", kFormatVersion},
              {"step", state.step},
              {"fingerprint", state.fingerprint},
              {"world_size", state.world_size},
              {"target_reached", state.target_reached},
              {"files", files}}
             .dump(2) +
         "\n";
}

Manifest parse_manifest(const std::string& text) {
  const json in = json::parse(text);
  if (in.at("version") != kFormatVersion)
    throw std::runtime_error("manifest.json has version " + in.at("version").dump() +
                             ", this program reads " + std::to_string(kFormatVersion));
  Manifest manifest{{in.at("step"), in.at("fingerprint"), in.at("world_size"), in.at("target_reached")}, {}};
  for (const auto& [name, file] : in.at("files").items())
    manifest.files[name] = {file.at("bytes"), file.at("xxh3")};
  return manifest;
}

}  // namespace

Manifest verify_checkpoint(const fs::path& checkpoint) {
  Manifest manifest = parse_manifest(read_file(checkpoint / kManifest));
  for (const char* name : {kWeights, kOptimizer})
    if (!manifest.files.contains(name))
      throw std::runtime_error(std::string("manifest.json does not list ") + name);
  for (const auto& [name, expected] : manifest.files) {
    const FileDigest found = digest_of(checkpoint / name);
    if (found.bytes != expected.bytes)
      throw std::runtime_error(name + " has " + std::to_string(found.bytes) + " bytes instead of " +
                               std::to_string(expected.bytes));
    if (found.xxh3 != expected.xxh3)
      throw std::runtime_error(name + " does not have the checksum it was saved with");
  }
  return manifest;
}

std::vector<std::string> list_checkpoints(const fs::path& folder) {
  static const std::regex pattern("step-[0-9]{8,}");
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (std::regex_match(entry.path().filename().string(), pattern)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return std::stoll(a.substr(5)) > std::stoll(b.substr(5));
  });
  return names;
}

CheckpointFolder::CheckpointFolder(fs::path folder, int keep)
    : folder_(std::move(folder)), keep_(std::max(1, keep)) {
  try {
    fs::create_directories(folder_);
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.path().filename().string().starts_with(kTemporaryPrefix)) fs::remove_all(entry.path());
  } catch (const std::system_error& error) {
    throw Failure(WorkerExit::disk_full,
                  "cannot use the checkpoint folder " + folder_.string() + ": " + error.what());
  }
}

SavedCheckpoint CheckpointFolder::save(const TrainingState& state, ParameterStore& parameters,
                                       Optimizer& optimizer) {
  SavedCheckpoint saved{name_of(state.step), 0};
  const fs::path temporary = folder_ / (kTemporaryPrefix + saved.name);
  try {
    fs::create_directories(temporary);
    write(temporary, state, parameters, optimizer, saved);
    fs::remove_all(folder_ / saved.name);  // there only if it was found broken
    fs::rename(temporary, folder_ / saved.name);
    sync_folder(folder_);
    prune();
  } catch (const std::system_error& error) {
    std::error_code ignored;  // the failure to save is what counts
    fs::remove_all(temporary, ignored);
    throw Failure(WorkerExit::disk_full, std::string("cannot save a checkpoint: ") + error.what());
  }
  return saved;
}

void CheckpointFolder::write(const fs::path& temporary, const TrainingState& state,
                             ParameterStore& parameters, Optimizer& optimizer, SavedCheckpoint& saved) {
  Manifest manifest{state, {}};
  const std::map<std::string, std::string> metadata{{"format", "pt"}, {"step", std::to_string(state.step)}};
  std::vector<TensorEntry> weights;
  append_tensors("", parameters.weights(), parameters, weights);
  manifest.files[kWeights] = write_safetensors(temporary / kWeights, std::move(weights), metadata);
  std::vector<TensorEntry> moments;
  append_tensors("first_moment.", optimizer.first_moment(), parameters, moments);
  append_tensors("second_moment.", optimizer.second_moment(), parameters, moments);
  manifest.files[kOptimizer] = write_safetensors(temporary / kOptimizer, std::move(moments), metadata);
  for (const auto& [name, digest] : manifest.files) saved.bytes += digest.bytes;
  write_file_atomic(temporary / kManifest, manifest_text(manifest));
}

void CheckpointFolder::prune() {
  const std::vector<std::string> names = list_checkpoints(folder_);
  for (std::size_t i = static_cast<std::size_t>(keep_); i < names.size(); ++i) {
    fs::remove(folder_ / names[i] / kManifest);  // first: without it the rest counts for nothing
    fs::remove_all(folder_ / names[i]);
  }
}

std::optional<TrainingState> CheckpointFolder::load_newest(const std::string& fingerprint,
                                                           ParameterStore& parameters, Optimizer& optimizer,
                                                           std::vector<std::string>& problems) {
  for (const std::string& name : list_checkpoints(folder_)) {
    const fs::path path = folder_ / name;
    Manifest manifest;
    try {
      manifest = verify_checkpoint(path);
    } catch (const std::exception& error) {
      problems.push_back("the checkpoint " + path.string() +
                         " is not whole and was passed over: " + error.what());
      continue;
    }
    if (manifest.state.fingerprint != fingerprint)
      throw Failure(WorkerExit::bad_spec,
                    "the checkpoint " + path.string() +
                        " comes from another model, data or training section; use another "
                        "checkpoint folder or the spec it was started with");
    const SafetensorsFile weights(path / kWeights);
    read_tensors(weights, "", parameters.weights(), parameters);
    const SafetensorsFile moments(path / kOptimizer);
    read_tensors(moments, "first_moment.", optimizer.first_moment(), parameters);
    read_tensors(moments, "second_moment.", optimizer.second_moment(), parameters);
    parameters.weights_changed();
    return manifest.state;
  }
  return std::nullopt;
}

}  // namespace podium
