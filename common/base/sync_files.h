// Many new files on disk at the price of one.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

namespace podium {

// Writes out the data of each and then syncs the last, which commits what the journals of ext4 and XFS have
// of all of them; network file systems have them since they were closed. `step` is called before each. Throws
// std::system_error naming the file.
void sync_files(const std::vector<std::filesystem::path>& files, const std::function<void()>& step);

}  // namespace podium
