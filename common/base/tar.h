// Folders as tar archives (POSIX ustar): equal files give equal bytes, whoever packs them and when. Unpacking
// refuses entries and links outside of the folder.
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
  std::string content;  // of a link: its target
};

// Why an entry with that name, or a link with that name to `target`, is refused; "" where it is accepted.
std::string bad_tar_name(std::string_view name);
std::string bad_tar_link(std::string_view name, std::string_view target);

// Packs the entries in the order of their names. Throws std::invalid_argument for a refused name or link.
std::string tar_of(std::vector<TarEntry> entries);

// Throws std::invalid_argument for anything that is not such an archive.
std::vector<TarEntry> read_tar(std::string_view tar);

// Unpacks into `folder`, which it makes. Throws std::invalid_argument or std::system_error.
void unpack_tar(std::string_view tar, const std::filesystem::path& folder);

}  // namespace podium
