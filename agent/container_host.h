// What this node has for containers: the runtimes in the agent's PATH, and how far its own limits go.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "agent/core/container.h"

namespace podium {

// Looked for anew at each start, so that a runtime which is installed later is found. `environment` is the agent's.
ContainerHost find_container_host(const std::vector<std::string>& environment,
                                  const std::filesystem::path& home);

}  // namespace podium
