// Tests whether a folder can be written; only a write reveals a full disk, a quota or a lost mount.
#pragma once

#include <filesystem>
#include <string>

namespace podium {

// Why nothing can be written there; "" where it can. Makes the folder. Blocks as long as the file system
// does.
std::string why_not_writable(const std::filesystem::path& folder);

}  // namespace podium
