// Reading files that grow.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace podium {

// At most `limit` bytes from `offset`; "" at the end of the file or where there is no file yet.
std::string read_range(const std::filesystem::path& path, std::int64_t offset, std::size_t limit);

// A file of a program's folder, which may hold anything; nothing where it is no regular file or longer.
std::optional<std::string> read_regular_file(const std::filesystem::path& path, std::size_t most);

// The first range from `offset` on that is not a hole; empty, at the file's end, where there is none.
struct DataRange {
  std::int64_t begin = 0, end = 0;
};
DataRange next_data(const std::filesystem::path& path, std::int64_t offset);

// Frees the disk space of the range, where the file system can; the file keeps its size and its other bytes.
void free_range(const std::filesystem::path& path, std::int64_t begin, std::int64_t end);

// Drops what follows the last line end, unless there is none or the text is `limit` long: then it is one huge
// line.
void keep_whole_lines(std::string& text, std::size_t limit);

}  // namespace podium
