// Folders as tar archives (POSIX ustar): the same files give the same bytes, whoever packs them and when.
// Unpacking takes nothing that would lie, or lead, outside of the folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace podium {

struct TarEntry {
  enum class Kind { file, folder, link };
  std::string name;  // relative, parts joined by /
  Kind kind = Kind::file;
  bool executable = false;
  std::string content;  // of a link: where it leads
};

// Why an entry of that name, or a link of that name to `target`, may not be; "" when it may.
std::string bad_tar_name(std::string_view name);
std::string bad_tar_link(std::string_view name, std::string_view target);

// In the order of their names. Throws std::invalid_argument for a name or link that may not be.
std::string tar_of(std::vector<TarEntry> entries);

// Throws std::invalid_argument for what is no such archive.
std::vector<TarEntry> read_tar(std::string_view tar);

// Into a folder that is made for it. Throws std::invalid_argument or std::system_error.
void unpack_tar(std::string_view tar, const std::filesystem::path& folder);

}  // namespace podium
