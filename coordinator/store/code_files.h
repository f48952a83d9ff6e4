// The code of jobs, each snapshot one file `<folder>/<sha256>` that holds what its name says. Together they
// stay within a bound: those that no living job needs go first, the longest unused before the others.
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

// False where it finds no room beside what living jobs need, which `in_use` is asked for only then. Throws
// std::system_error where it cannot be written.
bool keep_code(const std::filesystem::path& folder, const std::string& sha256, std::string_view packed,
               const std::function<std::set<std::string>()>& in_use, std::int64_t most = kMostCodeFiles);

}  // namespace podium
