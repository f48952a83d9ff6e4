// A file as bytes in memory, which the system reads when they are touched. Nobody may shorten the file
// meanwhile.
#pragma once

#include <filesystem>
#include <string_view>

namespace podium {

class MappedFile {
 public:
  // Throws BadData where the file cannot be read.
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;  // without an address where the file is empty
};

}  // namespace podium
