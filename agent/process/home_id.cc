#include "agent/process/home_id.h"

#include "common/base/file.h"

namespace podium {

std::string home_id(const std::filesystem::path& home) {
  const std::filesystem::path path = home / "id";
  if (!std::filesystem::exists(path))
    write_file_atomic(path, read_file("/proc/sys/kernel/random/uuid"), 0600);
  std::string id = read_file(path);
  while (id.ends_with('\n')) id.pop_back();
  return id;
}

}  // namespace podium
