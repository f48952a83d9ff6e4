// What data in a spec may name: paths and globs that are relative to a node's data folder, and how many of
// them may have a weight.
#pragma once

#include <cstddef>
#include <filesystem>

namespace podium {

// The most entries of data.train that are blended by weight. It bounds how long a resumed run takes to find
// its place (worker/data/blend.h).
inline constexpr std::size_t kMostBlended = 256;

// Whether a relative path, as written, leaves the folder in which it begins. Symbolic links in the folder may
// lead anywhere, because operators lay data out with them. Absolute paths are accepted.
inline bool leads_out_of_folder(const std::filesystem::path& path) {
  const std::filesystem::path normal = path.lexically_normal();
  return !normal.empty() && *normal.begin() == "..";
}

}  // namespace podium
