// What the kernel keeps in memory of files that were read.
#pragma once

#include <filesystem>
#include <vector>

namespace podium {

// Asks the kernel to keep nothing of them, so that they are read from their disk. False where one cannot be
// opened, or its file system does not do that.
bool forget_cached(const std::vector<std::filesystem::path>& files);

}  // namespace podium
