// Which folder a client may have loaded.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/base/error.h"

namespace podium {

// {"folder": PATH}; relative paths begin at `root`. Wherever links lead, the folder must lie within it.
Result<std::filesystem::path> folder_to_load(const nlohmann::json& body, const std::filesystem::path& root);

}  // namespace podium
