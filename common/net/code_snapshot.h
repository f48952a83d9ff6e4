// A job's code as it travels: a folder as tar, packed with zstd, named by the sha256 of the packed bytes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/tar.h"

namespace podium {

inline constexpr std::size_t kMostCodeBytes = 64 << 20;
inline constexpr std::size_t kMostPackedCode = 8 << 20;

struct CodeSnapshot {
  std::string sha256;
  std::string packed;
};

std::string sha256_of(std::string_view bytes);
bool is_sha256(std::string_view text);  // 64 lower-case hexadecimal digits

// Throws std::invalid_argument for what does not unpack to what may be.
std::vector<TarEntry> read_code(std::string_view packed);

// Fails, and names the largest files, where they are too many bytes; `where` is the place of problems.
Result<CodeSnapshot> pack_code(std::vector<TarEntry> entries, const std::string& where);

// All below `folder` but .git and __pycache__.
Result<CodeSnapshot> pack_code_folder(const std::filesystem::path& folder, const std::string& where);

// Into a folder that is made for it. Throws std::invalid_argument where the bytes are not what the name says
// or hold what may not be, std::system_error where they cannot be written.
void unpack_code(std::string_view packed, const std::string& sha256, const std::filesystem::path& folder);

}  // namespace podium
