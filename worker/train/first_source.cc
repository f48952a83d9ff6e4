#include "worker/train/first_source.h"

#include <spdlog/fmt/fmt.h>

#include <span>
#include <system_error>

#include "worker/checkpoint/reader.h"
#include "worker/data/failure.h"
#include "worker/input/bad_data.h"
#include "worker/train/folder_origin.h"
#include "worker/train/weight_source.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

ModelFolder own_look(const fs::path& path) {
  try {
    return kind_of_model(path);
  } catch (const std::system_error& error) {
    throw BadData("cannot read model.init: " + std::string(error.what()));
  }
}

// As rank 0 sees it.
ModelFolder kind_of(const fs::path& path, Communicator& world) {
  ModelFolder kind = world.rank() == 0 ? own_look(path) : ModelFolder::nothing;
  world.broadcast(std::as_writable_bytes(std::span(&kind, 1)), 0);
  return kind;
}

FirstSource source_of(WholeCheckpoint found, const WeightSource& source) {
  const fs::path path = found.path;
  return {path, std::move(found), source.begin(), source.problems()};
}

FirstSource hugging_face(const fs::path& folder, const Launch& launch, const std::optional<Origin>& pinned) {
  if (pinned && pinned->xxh3 != folder_origin(folder).xxh3)
    refuse_other_than_pinned(launch, *pinned, folder.string() + " is a Hugging Face folder with other files");
  if (const std::string& wanted = launch.spec.model.init_xxh3;
      !wanted.empty() && wanted != folder_origin(folder).xxh3)
    refuse_spec("model.init: " + folder.string() + " is not the one that model.init.xxh3 names (" + wanted +
                "); bring that one back, or leave xxh3 out to begin with this one");
  return {folder, std::nullopt, "", {}};
}

FirstSource of_job(const Launch& launch, const std::optional<Origin>& pinned, Communicator& world) {
  const JobCheckpoint& wanted = *launch.spec.model.init_job;
  WeightSource source(launch, describe(wanted), pinned, world);
  return source_of(source.find_in(launch.init_folder, wanted.choice, wanted.step), source);
}

FirstSource of_path(const Launch& launch, const std::optional<Origin>& pinned, Communicator& world) {
  const fs::path path = (fs::path(launch.data_folder) / launch.spec.model.init).lexically_normal();
  const ModelFolder kind = kind_of(path, world);
  if (kind == ModelFolder::hugging_face) return hugging_face(path, launch, pinned);
  if (kind == ModelFolder::nothing && !pinned)
    throw BadData(
        fmt::format("model.init: {} is neither a Hugging Face folder, which has a config.json, nor a "
                    "checkpoint, which has a {}, nor a folder of checkpoints (step-…)",
                    path.string(), kManifestName));
  WeightSource source(launch, path.string(), pinned, world);
  return source_of(
      kind == ModelFolder::checkpoint ? source.at(path) : source.find_in(path, CheckpointChoice::newest, 0),
      source);
}

}  // namespace

Origin FirstSource::origin() const {
  if (!checkpoint) return {};
  return {path.string(), checkpoint->manifest.state.step, checkpoint->manifest.xxh3};
}

FirstSource find_first_source(const Launch& launch, const std::optional<Origin>& pinned,
                              Communicator& world) {
  return launch.spec.model.init_job ? of_job(launch, pinned, world) : of_path(launch, pinned, world);
}

}  // namespace podium
