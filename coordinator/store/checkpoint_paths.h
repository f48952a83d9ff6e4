// Whose checkpoints a path of a node leads to.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/id.h"

namespace podium {

// The job of whose checkpoints `path` names one, or their folder:
// ".../<folder>/12/checkpoints/step-00000200", where `folder` has the jobs of this cluster within the nodes'
// shared folder.
std::optional<JobId> job_of_checkpoints(const std::string& path, std::string_view folder);

}  // namespace podium
