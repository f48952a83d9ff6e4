// The paths and globs in a spec that are relative to a node's data folder.
#pragma once

#include <filesystem>

namespace podium {

// Whether a relative path, as written, leaves the folder in which it begins. Symbolic links in the folder may
// lead anywhere, because operators lay data out with them. Absolute paths are accepted.
inline bool leads_out_of_folder(const std::filesystem::path& path) {
  const std::filesystem::path normal = path.lexically_normal();
  return !normal.empty() && *normal.begin() == "..";
}

}  // namespace podium
