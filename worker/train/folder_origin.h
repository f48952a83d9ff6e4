// A folder of weights that is no checkpoint, told from what it was by the files that a model is read from.
#pragma once

#include <filesystem>

#include "common/model/origin.h"

namespace podium {

// Of step 0. Throws Failure(disk_full) if a file cannot be read.
Origin folder_origin(const std::filesystem::path& folder);

}  // namespace podium
