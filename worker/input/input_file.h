// Opens what a job reads. Only regular files: a device or a pipe may never end, or block whoever opens it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/base/file.h"

namespace podium {

struct InputFile {
  Fd file;
  std::uint64_t bytes = 0;  // when it was opened
};

// Throws BadData naming the file.
InputFile open_input(const std::filesystem::path& path);
// All of it, for what is small.
std::string read_input(const std::filesystem::path& path);
// The same of text; BadData names the line of the first byte that is not UTF-8.
std::string read_utf8_input(const std::filesystem::path& path);

}  // namespace podium
