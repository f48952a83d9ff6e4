// What is allowed in a spec and yet probably not meant.
#pragma once

#include <string>
#include <vector>

#include "common/model/spec.h"

namespace podium {

// Of an experiment's jobs, each once. Nothing is looked up: what files there are only the nodes know.
std::vector<std::string> warnings_of(const std::vector<JobSpec>& jobs);

}  // namespace podium
