// Reading files that grow.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace podium {

// At most `limit` bytes from `offset`; "" at the end of the file or when there is none yet.
std::string read_range(const std::filesystem::path& path, std::int64_t offset, std::size_t limit);

// Drops what follows the last line end, unless there is none or the text is `limit` long: then it is one huge
// line.
void keep_whole_lines(std::string& text, std::size_t limit);

}  // namespace podium
