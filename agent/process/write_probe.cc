#include "agent/process/write_probe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "common/base/file.h"

namespace podium {
namespace {

constexpr std::size_t kProbeBytes = 64 << 10;  // more than a task's first files take

}  // namespace

std::string why_not_writable(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / ("probe-" + std::to_string(::getpid()));
  std::string why;
  try {
    std::filesystem::create_directories(folder);
    const Fd fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    write_all(fd.get(), std::string(kProbeBytes, '\n'), path);
    if (::fsync(fd.get()) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot write " + path.string());
  } catch (const std::system_error& error) {
    why = error.what();
  }
  ::unlink(path.c_str());
  return why;
}

}  // namespace podium
