// Warnings about what a spec may say but probably does not mean.
#pragma once

#include <string>
#include <vector>

#include "common/model/spec.h"

namespace podium {

// The warnings of an experiment's jobs, each once. Reads no file: only the nodes have them.
std::vector<std::string> warnings_of(const std::vector<JobSpec>& jobs);

}  // namespace podium
