// The paths and globs in a spec that begin at a node's data folder.
#pragma once

#include <filesystem>

namespace podium {

// Whether a relative path leaves the folder in which it begins, as written: symbolic links within the folder
// may lead anywhere, for operators lay data out with them. An absolute path is what it says.
inline bool leads_out_of_folder(const std::filesystem::path& path) {
  const std::filesystem::path normal = path.lexically_normal();
  return !normal.empty() && *normal.begin() == "..";
}

}  // namespace podium
