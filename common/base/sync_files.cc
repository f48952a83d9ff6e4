#include "common/base/sync_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "common/base/file.h"

namespace podium {

void sync_files(const std::vector<std::filesystem::path>& files, const std::function<void()>& step) {
  constexpr unsigned kAll = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  for (const auto& path : files) {
    step();
    const Fd file = open_file(path, O_RDONLY);
    const bool is_last = &path == &files.back();
    if ((is_last ? ::fsync(file.get()) : ::sync_file_range(file.get(), 0, 0, kAll)) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot write " + path.string());
  }
}

}  // namespace podium
