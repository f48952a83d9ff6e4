#include "worker/checkpoint/reader.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <map>
#include <set>
#include <stdexcept>

#include "worker/input/bad_data.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

struct Target {
  WantedPiece wanted;
  std::int64_t missing = 0;  // elements not found yet
};

// By kind and parameter.
using TargetsByName = std::multimap<std::string, Target>;

std::string key_of(const std::string& kind, const std::string& parameter) { return kind + "/" + parameter; }

void check_shape(const Piece& stored, const Piece& wanted) {
  if (stored.box.full == wanted.box.full) return;
  throw std::runtime_error(fmt::format("{} is of shape [{}] in the checkpoint and of shape [{}] in the model",
                                       stored.parameter, fmt::join(stored.box.full, ", "),
                                       fmt::join(wanted.box.full, ", ")));
}

// One stored piece of one kind goes wherever elements of it are wanted.
void deliver(const SafetensorsFile& file, const std::string& kind, const Piece& stored,
             TargetsByName& targets) {
  std::vector<float> values;
  const auto [begin, end] = targets.equal_range(key_of(kind, stored.parameter));
  for (auto target = begin; target != end; ++target) {
    const WantedPiece& wanted = target->second.wanted;
    check_shape(stored, wanted.piece);
    const std::vector<CommonRun> runs = common_runs(stored, wanted.piece);
    if (runs.empty()) continue;
    if (values.empty()) {
      values.resize(static_cast<std::size_t>(stored.size()));
      file.read(tensor_name(kind, stored), "F32", tensor_shape(stored),
                std::as_writable_bytes(std::span(values)));
    }
    copy_runs(runs, values, wanted.out, wanted.memory);
    for (const CommonRun& run : runs) target->second.missing -= run.count;
  }
}

std::string no_checkpoint(const fs::path& folder) {
  const std::vector<std::string> inside =
      fs::is_directory(folder) ? checkpoints_in(folder) : std::vector<std::string>{};
  return fmt::format("{} is no checkpoint, for it has no {}; name the folder of a step, such as {}",
                     folder.string(), kManifestName,
                     inside.empty() ? "checkpoints/step-00000200" : (folder / inside.front()).string());
}

}  // namespace

CheckpointManifest read_whole_checkpoint(const fs::path& checkpoint) {
  std::error_code unknown;
  if (!fs::exists(checkpoint / kManifestName, unknown)) throw BadData(no_checkpoint(checkpoint));
  try {
    CheckpointManifest manifest = read_manifest(checkpoint);
    for (const auto& [name, part] : manifest.files) verify_file(checkpoint, name, part.digest);
    return manifest;
  } catch (const std::exception& error) {
    throw BadData("the checkpoint " + checkpoint.string() + " is not usable: " + error.what());
  }
}

ModelFolder kind_of_model(const fs::path& folder) {
  if (fs::exists(folder / kManifestName)) return ModelFolder::checkpoint;
  if (fs::exists(folder / "config.json")) return ModelFolder::hugging_face;
  const bool some = fs::is_directory(folder) && !checkpoints_in(folder).empty();
  return some ? ModelFolder::checkpoints : ModelFolder::nothing;
}

std::optional<CheckpointManifest> find_checkpoint(fs::path& folder) {
  const ModelFolder kind = kind_of_model(folder);
  if (kind == ModelFolder::checkpoint) return read_whole_checkpoint(folder);
  if (kind == ModelFolder::hugging_face) return std::nullopt;
  std::string broken;  // the newest that is not whole
  for (const std::string& name :
       kind == ModelFolder::checkpoints ? checkpoints_in(folder) : std::vector<std::string>{}) {
    try {
      CheckpointManifest manifest = read_whole_checkpoint(folder / name);
      if (!broken.empty()) spdlog::warn("{}; {} is taken", broken, name);
      folder /= name;
      return manifest;
    } catch (const BadData& error) {
      if (broken.empty()) broken = error.what();
    }
  }
  throw BadData(folder.string() +
                " is no model: neither a Hugging Face folder (config.json), nor a checkpoint such as "
                "checkpoints/step-00000200 (manifest.json), nor a folder of whole ones" +
                (broken.empty() ? "" : "; " + broken));
}

CheckpointReader::CheckpointReader(fs::path checkpoint, const CheckpointManifest& manifest)
    : checkpoint_(std::move(checkpoint)) {
  for (const auto& [name, part] : manifest.files)
    for (const Piece& piece : part.pieces) places_.emplace(piece.parameter, Place{name, &piece});
}

void CheckpointReader::read(std::span<const WantedPiece> wanted) {
  TargetsByName targets;
  std::set<std::string> kinds;
  std::map<std::string, std::set<const Piece*>> needed;  // by file
  for (const WantedPiece& piece : wanted) {
    kinds.insert(piece.kind);
    targets.emplace(key_of(piece.kind, piece.piece.parameter), Target{piece, piece.piece.size()});
    const auto [begin, end] = places_.equal_range(piece.piece.parameter);
    for (auto place = begin; place != end; ++place) needed[place->second.file].insert(place->second.piece);
  }
  for (const auto& [name, pieces] : needed) {
    const auto file = files_.get(name, [&] { return std::make_unique<SafetensorsFile>(checkpoint_ / name); });
    for (const Piece* const stored : pieces)
      for (const std::string& kind : kinds) deliver(*file, kind, *stored, targets);
  }
  for (const auto& [key, target] : targets)
    if (target.missing != 0)
      throw std::runtime_error(fmt::format("{}: of {} elements of {} it holds {}", checkpoint_.string(),
                                           target.wanted.piece.size(), key,
                                           target.wanted.piece.size() - target.missing));
}

void read_tensors(const fs::path& checkpoint, const CheckpointManifest& manifest,
                  const CheckpointTensors& tensors) {
  const MemorySpace memory = tensors.parameters.memory();
  std::vector<WantedPiece> wanted;
  for (const Parameter& parameter : tensors.parameters.list())
    wanted.push_back({kWeights, whole_piece(parameter), tensors.parameters.weights(parameter), memory});
  for (const HeldPiece& held : state_pieces(tensors))
    for (const auto& [name, values] : tensors.states)
      wanted.push_back(
          {name, held.piece,
           values.subspan(static_cast<std::size_t>(held.states), static_cast<std::size_t>(held.piece.size())),
           memory});
  CheckpointReader(checkpoint, manifest).read(wanted);
  tensors.parameters.weights_changed();
}

}  // namespace podium
