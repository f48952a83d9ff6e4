// Whether a folder can be written: tried, for nothing else tells of a full disk, a quota or a lost mount.
#pragma once

#include <filesystem>
#include <string>

namespace podium {

// Why nothing can be written there; "" when it can. Makes the folder. Takes as long as the file system does.
std::string why_not_writable(const std::filesystem::path& folder);

}  // namespace podium
