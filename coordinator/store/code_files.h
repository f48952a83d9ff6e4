// The code of jobs: each snapshot is a file `<folder>/<sha256>`, named by the hash of its content. Their
// total size is bounded: snapshots that no live job needs are deleted first, the longest unused before the
// others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace podium {

inline constexpr std::int64_t kMostCodeFiles = std::int64_t{1} << 30;  // bytes of all snapshots

bool has_code(const std::filesystem::path& folder, const std::string& sha256);

// False where there is no room beside the code of live jobs; `in_use` is only called then. Throws
// std::system_error where it cannot be written.
bool keep_code(const std::filesystem::path& folder, const std::string& sha256, std::string_view packed,
               const std::function<std::set<std::string>()>& in_use, std::int64_t most = kMostCodeFiles);

}  // namespace podium
