#include "coordinator/store/log_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "common/base/file.h"

namespace podium {

std::filesystem::path log_path(const std::filesystem::path& home, TaskId task, StreamKind stream) {
  return home / "logs" / to_string(task.attempt.job) / std::to_string(task.attempt.number) /
         (std::to_string(task.rank) + "." + std::string(to_string(stream)));
}

void write_log(const std::filesystem::path& path, std::int64_t offset, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  const Fd file = open_file(path, O_WRONLY | O_CREAT);
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file.get(), bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw std::system_error(errno, std::generic_category(), "cannot write " + path.string());
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += written;
  }
  if (::fdatasync(file.get()) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot sync " + path.string());
}

}  // namespace podium
