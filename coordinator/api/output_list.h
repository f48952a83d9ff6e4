// The outputs of a job as its nodes have collected them in the shared folder (agent/outputs/collect.h). What
// lies there may be anything: jobs write in it, too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/file_tree.h"

namespace podium {

struct OutputFile {
  std::int32_t rank = 0;
  std::string path;
  std::int64_t bytes = 0;
};

struct OutputList {
  std::int32_t attempt = 0;            // whose outputs these are; 0: of none
  std::vector<std::int32_t> attempts;  // that have some, in their order
  std::vector<std::int32_t> ranks;     // whose outputs are collected
  std::vector<OutputFile> files;       // by rank and path
  bool more = false;                   // than `most`
};

// Of the attempt, or of the newest one. `folder`: that of the job's outputs, in `shared`.
OutputList list_outputs(const std::filesystem::path& shared, const PathParts& folder,
                        std::optional<std::int32_t> attempt, std::size_t most);

}  // namespace podium
