// A job's code in transport: a folder as a tar archive, packed with zstd, named by the sha256 of the packed
// bytes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/tar.h"
#include "common/net/sha256.h"

namespace podium {

inline constexpr std::size_t kMostCodeBytes = 64 << 20;
inline constexpr std::size_t kMostPackedCode = 8 << 20;

struct CodeSnapshot {
  std::string sha256;
  std::string packed;
};

// Throws std::invalid_argument for bytes that do not unpack to acceptable entries.
std::vector<TarEntry> read_code(std::string_view packed);

// Fails, naming the largest files, where the entries are too large; `where` is the place of problems.
Result<CodeSnapshot> pack_code(std::vector<TarEntry> entries, const std::string& where);

// Packs everything below `folder` except .git and __pycache__.
Result<CodeSnapshot> pack_code_folder(const std::filesystem::path& folder, const std::string& where);

// Unpacks into `folder`, which it makes. Throws std::invalid_argument where the bytes do not match the hash
// or hold refused entries, std::system_error where they cannot be written.
void unpack_code(std::string_view packed, const std::string& sha256, const std::filesystem::path& folder);

}  // namespace podium
