#include "worker/input/page_cache.h"

#include <fcntl.h>

#include <algorithm>
#include <system_error>

#include "common/base/file.h"

namespace podium {
namespace {

bool forget(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) return false;
  try {
    const Fd file = open_file(path, O_RDONLY);
    return ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED) == 0;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace

bool forget_cached(const std::vector<std::filesystem::path>& files) {
  bool all = true;
  for (const auto& file : files) all = forget(file) && all;
  return all;
}

}  // namespace podium
