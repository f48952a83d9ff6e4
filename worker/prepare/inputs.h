// The files that are prepared: which, in which order, and a part's share of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace podium {

// Each of `names` is a file, a folder or a glob: a folder's files, also those in folders within it, sorted by
// path, without those whose name begins with a dot; a glob's matches sorted. A file that is named twice is
// read once. What a run to `out` (a name without the ending and the part) writes is left out, so that the
// list stays the same while it grows. Throws BadData where a name stands for nothing or no file is left, and
// std::filesystem::filesystem_error where a folder cannot be listed.
std::vector<std::filesystem::path> expand_inputs(const std::vector<std::string>& names,
                                                 const std::filesystem::path& out);

// One of `count` shares of the files, in their order: all shares one after another are the whole, and they
// have about as many bytes each.
struct Part {
  int number = 0;  // from 0
  int count = 1;
};
std::vector<std::filesystem::path> share_of(const std::vector<std::filesystem::path>& files, Part part);

// What tells whether the files are those of an earlier run: names, sizes and times of the last change.
std::string identity_of(const std::vector<std::filesystem::path>& files);
// What tells whether parts are shares of one list: names and sizes.
std::string list_identity_of(const std::vector<std::filesystem::path>& files);

std::uint64_t bytes_of(const std::vector<std::filesystem::path>& files);

}  // namespace podium
