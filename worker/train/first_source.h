// What model.init names, the same at every attempt of a run: a checkpoint, which is written down in the run's
// folder (pinned_origin.h), or a folder of another form.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/model/launch.h"
#include "common/model/origin.h"
#include "worker/checkpoint/search.h"
#include "worker/comm/communicator.h"

namespace podium {

struct FirstSource {
  std::filesystem::path path;
  std::optional<WholeCheckpoint>
      checkpoint;     // nothing: what has a config.json, such as a Hugging Face folder
  std::string begin;  // with which refusals of the checkpoint begin
  std::vector<std::string> warnings;

  // Unknown where it is no checkpoint.
  Origin origin() const;
};

// The spec of the launch has a model.init. `pinned`: what an earlier attempt began with; then nothing else is
// found. Collective over the world. Throws BadData if nothing lies there that holds a model, and Failure as
// WeightSource does.
FirstSource find_first_source(const Launch& launch, const std::optional<Origin>& pinned, Communicator& world);

}  // namespace podium
