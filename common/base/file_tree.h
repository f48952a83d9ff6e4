// Files below a folder, by the parts of their paths. Links are not followed, whoever makes them and when.
// Failures of the disk throw std::system_error naming the path.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/file.h"

namespace podium {

// None is "", "." or "..", or has a slash.
using PathParts = std::vector<std::string>;

struct TreeEntry {
  std::string name;
  bool is_folder = false;
  std::int64_t bytes = 0;  // of a file

  bool operator==(const TreeEntry&) const = default;
};

struct TreeFile {
  Fd fd;
  std::int64_t bytes = 0;
  std::string version;  // another whenever it was replaced
};

// Nothing where a part is missing, or is no folder.
std::optional<Fd> folder_below(const std::filesystem::path& root, const PathParts& parts);

// Files and folders in it by name; empty where there is no such folder.
std::vector<TreeEntry> list_below(const std::filesystem::path& root, const PathParts& parts);

// Nothing where there is no such file.
std::optional<TreeFile> open_below(const std::filesystem::path& root, const PathParts& parts);

// Of a name in an open folder; nothing for what is neither a file nor a folder.
std::optional<TreeEntry> entry_in(int folder, const char* name);

}  // namespace podium
